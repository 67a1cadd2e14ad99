//go:build cgo && mpi

package mpi

/*
#include <stdlib.h>
#include "bridge.h"
*/
import "C"

import (
	"runtime"
	"sync"
	"unsafe"
)

// batch is a set of started transfers that are waited for together. Requests
// live in C memory, and the Go memory that MPI reads or writes is pinned, until
// free or for ever after abandon.
type batch struct {
	requests *C.MPI_Request
	statuses *C.MPI_Status
	room     int
	peers    []int
	pins     runtime.Pinner
}

// newBatch makes room for a number of transfers.
func newBatch(room int) *batch {
	return &batch{
		requests: (*C.MPI_Request)(C.calloc(C.size_t(room), C.sizeof_MPI_Request)),
		statuses: (*C.MPI_Status)(C.calloc(C.size_t(room), C.sizeof_MPI_Status)),
		room:     room,
		peers:    make([]int, 0, room),
	}
}

// next names the request of the next transfer and pins its data.
func (b *batch) next(peer int, data []byte) *C.MPI_Request {
	if len(data) > 0 {
		b.pins.Pin(unsafe.SliceData(data))
	}
	b.peers = append(b.peers, peer)
	return &unsafe.Slice(b.requests, b.room)[len(b.peers)-1]
}

// settle takes back the place of a transfer that did not start.
func (b *batch) settle(what string, code C.int) error {
	if code != C.MPI_SUCCESS {
		b.peers = b.peers[:len(b.peers)-1]
	}
	return check(what, code)
}

// send starts to send data, which stays lent until the batch is complete.
func (b *batch) send(h handle, peer, tag int, data []byte) error {
	request := b.next(peer, data)
	return b.settle("MPI_Isend", C.lk_send(address(data), C.size_t(len(data)), C.int(pieceBytes), C.int(peer), C.int(tag), h, request))
}

// receive starts to receive at most len(data) bytes.
func (b *batch) receive(h handle, peer, tag int, data []byte) error {
	request := b.next(peer, data)
	return b.settle("MPI_Irecv", C.lk_receive(address(data), C.size_t(len(data)), C.int(pieceBytes), C.int(peer), C.int(tag), h, request))
}

// receiveMatched starts to receive the message that p found.
func (b *batch) receiveMatched(p *probe, data []byte) error {
	request := b.next(p.source, data)
	return b.settle("MPI_Imrecv", C.lk_receive_matched(address(data), C.size_t(len(data)), C.int(pieceBytes), &p.message, request))
}

// poll is one burst of tests; it says yes once every transfer is complete.
func (b *batch) poll(micros int) (bool, error) {
	if len(b.peers) == 0 {
		return true, nil
	}
	var done, failed C.int
	code := C.lk_test(C.int(len(b.peers)), b.requests, b.statuses, C.long(micros), &done, &failed)
	return done != 0, check("MPI_Testall", code)
}

// bytes is the length of the message that transfer number i has received.
func (b *batch) bytes(i int) (int, error) {
	var n C.longlong
	err := check("MPI_Get_elements_x", C.lk_bytes(&unsafe.Slice(b.statuses, b.room)[i], &n))
	return int(n), err
}

// pending lists the peers of the transfers that are not complete.
func (b *batch) pending() []int {
	var peers []int
	for i, request := range unsafe.Slice(b.requests, b.room)[:len(b.peers)] {
		var done C.int
		if C.lk_complete(request, &done) != C.MPI_SUCCESS || done == 0 {
			peers = append(peers, b.peers[i])
		}
	}
	return peers
}

// reset makes a complete batch empty.
func (b *batch) reset() {
	b.pins.Unpin()
	b.peers = b.peers[:0]
}

// free gives the memory of a complete batch back.
func (b *batch) free() {
	b.reset()
	C.free(unsafe.Pointer(b.requests))
	C.free(unsafe.Pointer(b.statuses))
}

// abandoned holds the batches that MPI may still work on. It lets go of nothing:
// MPI cannot take a started transfer back.
var abandoned struct {
	sync.Mutex
	batches []*batch
}

// abandon leaves the batch and its data to MPI for the life of the process.
func (b *batch) abandon() {
	abandoned.Lock()
	defer abandoned.Unlock()
	abandoned.batches = append(abandoned.batches, b)
}
