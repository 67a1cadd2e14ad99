//go:build cgo && mpi

package mpi

/*
#cgo LDFLAGS: -lmpi
#include <stdlib.h>
#include "bridge.h"
*/
import "C"

import (
	"fmt"
	"unsafe"
)

// pieceBytes is the longest count that MPI is given; its counts are C ints.
// Tests lower it.
var pieceBytes = 1<<31 - 1

// handle is MPI's name of a communicator.
type handle = C.MPI_Comm

// codeError is an error code of MPI.
type codeError C.int

// Error is MPI's own text, such as "MPI_ERR_RANK: invalid rank".
func (e codeError) Error() string {
	text := (*C.char)(C.malloc(C.MPI_MAX_ERROR_STRING))
	defer C.free(unsafe.Pointer(text))
	C.lk_text(C.int(e), text)
	return C.GoString(text)
}

// check turns MPI's code into an error that says what was being done.
func check(what string, code C.int) error {
	if code == C.MPI_SUCCESS {
		return nil
	}
	return fmt.Errorf("%s: %w", what, codeError(code))
}

// library is the state of MPI in this process.
type library struct{ started, finalised, threads bool }

func state() (library, error) {
	var started, finalised, threads C.int
	err := check("MPI_Initialized", C.lk_state(&started, &finalised, &threads))
	return library{started != 0, finalised != 0, threads != 0}, err
}

// start is ours and not gompi's: gompi ends the process with log.Fatal when MPI
// refuses calls from several threads.
func start() (threads bool, err error) {
	var level C.int
	err = check("MPI_Init_thread", C.lk_start(&level))
	return level != 0, err
}

func worldHandle() handle { return C.lk_world() }

func returnErrors(h handle) error {
	return check("MPI_Comm_set_errhandler", C.lk_return_errors(h))
}

// duplicate blocks until all members of h call it.
func duplicate(h handle) (handle, error) {
	var out handle
	err := check("MPI_Comm_dup", C.lk_dup(h, &out))
	return out, err
}

// divide blocks until all members of h call it; ok is false where color is
// negative.
func divide(h handle, color, key int) (out handle, ok bool, err error) {
	err = check("MPI_Comm_split", C.lk_split(h, C.int(color), C.int(key), &out))
	return out, err == nil && color >= 0, err
}

func release(h handle) error { return check("MPI_Comm_free", C.lk_free(h)) }

func tagLimit() (int, error) {
	var limit C.long
	err := check("MPI_Comm_get_attr", C.lk_tag_limit(&limit))
	return int(limit), err
}

// take receives one notice into room, if there is one.
func take(h handle, tag int, room []byte) (notice []byte, source int, found bool, err error) {
	var yes, from, n C.int
	err = check("MPI_Mrecv", C.lk_take(C.int(tag), h, address(room), C.int(len(room)), &yes, &from, &n))
	return room[:n], int(from), yes != 0, err
}

// address is where data begins, nil for none.
func address(data []byte) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(data)) }

// probe looks for the next message from a source with a tag.
type probe struct {
	comm        handle
	source, tag int
	message     C.lk_message
}

// poll is one burst; after it says yes the message belongs to this probe.
func (p *probe) poll(micros int) (bool, error) {
	var found C.int
	err := check("MPI_Improbe", C.lk_probe(C.int(p.source), C.int(p.tag), p.comm, C.long(micros), &found, &p.message))
	return found != 0, err
}

func (p *probe) bytes() int { return int(p.message.bytes) }
