// Package slurm reads what Slurm tells the processes of a step: where each stands, its lists of
// hosts and of tasks per node, and the place where its ranks can meet. The folder holds the batch scripts,
// too.
package slurm
