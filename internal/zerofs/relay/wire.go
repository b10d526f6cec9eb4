package relay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
)

// Constants of the NBD protocol (doc/proto.md of NetworkBlockDevice/nbd), transmission
// phase.
const (
	requestMagic = 0x25609513
	replyMagic   = 0x67446698

	requestBytes = 28
	replyBytes   = 16

	// maxLength of one request, which servers may rely on without agreement.
	maxLength = 32 << 20
)

// Errors of replies.
const (
	errIO      = 5
	errInvalid = 22
)

// operation is the type of a request.
type operation uint16

const (
	opRead       operation = 0
	opWrite      operation = 1
	opDisconnect operation = 2
	opFlush      operation = 3
	opTrim       operation = 4
)

// header of a request.
type header struct {
	flags  uint16
	op     operation
	cookie uint64
	offset uint64
	length uint32
}

func (h header) encode() []byte {
	b := make([]byte, 0, requestBytes)
	b = binary.BigEndian.AppendUint32(b, requestMagic)
	b = binary.BigEndian.AppendUint16(b, h.flags)
	b = binary.BigEndian.AppendUint16(b, uint16(h.op))
	b = binary.BigEndian.AppendUint64(b, h.cookie)
	b = binary.BigEndian.AppendUint64(b, h.offset)
	return binary.BigEndian.AppendUint32(b, h.length)
}

func readHeader(r io.Reader) (header, error) {
	var b [requestBytes]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return header{}, err
	}
	if magic := binary.BigEndian.Uint32(b[:]); magic != requestMagic {
		return header{}, fmt.Errorf("a request begins with %#x", magic)
	}
	return header{
		flags:  binary.BigEndian.Uint16(b[4:]),
		op:     operation(binary.BigEndian.Uint16(b[6:])),
		cookie: binary.BigEndian.Uint64(b[8:]),
		offset: binary.BigEndian.Uint64(b[16:]),
		length: binary.BigEndian.Uint32(b[24:]),
	}, nil
}

// fits says that a request is one that can be kept and repeated: within the export,
// and with no flag, of which none was offered.
func (h header) fits(size uint64) bool {
	switch h.op {
	case opFlush:
		return h.flags == 0
	case opRead, opWrite, opTrim:
		return h.flags == 0 && h.length > 0 && h.length <= maxLength && h.offset <= size && uint64(h.length) <= size-h.offset
	}
	return false
}

func encodeReply(cookie uint64, code uint32) []byte {
	b := make([]byte, 0, replyBytes)
	b = binary.BigEndian.AppendUint32(b, replyMagic)
	b = binary.BigEndian.AppendUint32(b, code)
	return binary.BigEndian.AppendUint64(b, cookie)
}

func readReply(r io.Reader) (cookie uint64, code uint32, err error) {
	var b [replyBytes]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, 0, err
	}
	if magic := binary.BigEndian.Uint32(b[:]); magic != replyMagic {
		return 0, 0, errors.New("an answer of ZeroFS is not of the NBD protocol")
	}
	return binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint32(b[4:]), nil
}
