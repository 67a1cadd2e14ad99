// Package slurm reads what Slurm tells the processes of a step: its lists of hosts and
// of tasks per node. The folder holds the batch scripts, too.
package slurm
