package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// openStreams makes what carries each process's output and, if asked to, its log.
// With mpi both are mpirun's business.
func (j *job) openStreams() error {
	ring := j.options.backend == "ring"
	if ring && j.options.logDir != "" {
		if err := j.openLogs(); err != nil {
			return err
		}
	}
	for rank := range j.streams {
		for i, to := range []*sink{j.stdout, j.stderr} {
			s := &stream{sink: to}
			if ring && j.options.tag {
				s.tag = fmt.Sprintf("[%d] ", rank)
			}
			if j.logs != nil {
				s.log = j.logs[rank]
			}
			j.streams[rank][i] = s
		}
	}
	return nil
}

// openLogs makes a file for each rank, which gets both of its outputs.
func (j *job) openLogs() error {
	if err := os.MkdirAll(j.options.logDir, 0o777); err != nil {
		return err
	}
	for rank := range j.streams {
		file, err := os.Create(filepath.Join(j.options.logDir, fmt.Sprintf("rank-%d.log", rank)))
		if err != nil {
			j.closeLogs()
			return err
		}
		j.logs = append(j.logs, file)
	}
	return nil
}

func (j *job) closeLogs() {
	for _, file := range j.logs {
		file.Close()
	}
}
