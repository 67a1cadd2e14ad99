package mpi

// prefer puts MPI before the ring: a process that mpirun started is meant for it.
const prefer = 2
