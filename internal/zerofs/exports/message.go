package exports

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"syscall"
)

// Types of 9P2000.L's requests; an answer's is one more. Source of these and of all
// layouts: https://github.com/chaos/diod/blob/master/protocol.md and Linux'
// include/net/9p/9p.h.
const (
	tLopen   = 12
	tLcreate = 14
	tGetattr = 24
	tSetattr = 26
	tReaddir = 40
	tFsync   = 50
	tMkdir   = 72
	tVersion = 100
	tAttach  = 104
	tWalk    = 110
	tRead    = 116
	tWrite   = 118

	rLerror = 7
)

const (
	dialect = "9P2000.L"

	// maxMessage in bytes that we ask for; a server may want less, but not too little to
	// list a file name in.
	maxMessage = 64 << 10
	minMessage = 4 << 10
	// headerBytes of size[4] type[1] tag[2].
	headerBytes = 7
	// readdirHeader is the bytes of an answer ahead of the entries: header, count[4].
	readdirHeader = headerBytes + 4

	noTag = 0xffff
	noFid = ^fid(0)
)

// fid is our number of a file that the server has found for us.
type fid uint32

// qid is the server's identity of a file: type[1] version[4] path[8].
type qid [13]byte

// session with a server: one request at a time, each in the name of root. The server
// forgets all fids with the connection, so that none is given back.
type session struct {
	conn net.Conn
	// message is the largest in bytes.
	message uint32
	last    fid
}

// open a session, and its fid of the root folder.
func open(conn net.Conn) (*session, fid, error) {
	s := &session{conn: conn, message: maxMessage}
	answer, err := s.exchange(tVersion, noTag, uint32(maxMessage), dialect)
	if err != nil {
		return nil, 0, fmt.Errorf("9P version: %w", err)
	}
	if err := s.agree(answer); err != nil {
		return nil, 0, fmt.Errorf("9P version: %w", err)
	}
	const uid = uint32(0) // without a uid, ZeroFS gives a client no rights
	root := s.next()
	if _, err := s.ask(tAttach, root, noFid, "root", "", uid); err != nil {
		return nil, 0, fmt.Errorf("9P attach: %w", err)
	}
	return s, root, nil
}

func (s *session) agree(answer []byte) error {
	size, rest, err := take[uint32](answer)
	if err != nil {
		return err
	}
	version, _, err := takeText(rest)
	switch {
	case err != nil:
		return err
	case version != dialect:
		return fmt.Errorf("the server speaks %.20q, not %s", version, dialect)
	case size < minMessage || size > maxMessage:
		return fmt.Errorf("the server wants messages of %d bytes", size)
	}
	s.message = size
	return nil
}

func (s *session) next() fid {
	s.last++
	return s.last
}

// ask for something and return the answer's body. An Rlerror is a syscall.Errno.
func (s *session) ask(kind byte, fields ...any) ([]byte, error) {
	return s.exchange(kind, 0, fields...)
}

func (s *session) exchange(kind byte, tag uint16, fields ...any) ([]byte, error) {
	request, err := pack(kind, tag, fields)
	if err != nil {
		return nil, err
	}
	if _, err := s.conn.Write(request); err != nil {
		return nil, err
	}
	got, body, err := s.receive(tag)
	switch {
	case err != nil:
		return nil, err
	case got == kind+1:
		return body, nil
	case got == rLerror:
		code, _, err := take[uint32](body)
		if err == nil {
			err = syscall.Errno(code)
		}
		return nil, err
	}
	return nil, fmt.Errorf("%w: type %d to a request of type %d", errAnswer, got, kind)
}

// receive an answer's type and body.
func (s *session) receive(tag uint16) (byte, []byte, error) {
	var header struct {
		Size uint32
		Kind byte
		Tag  uint16
	}
	if err := binary.Read(s.conn, binary.LittleEndian, &header); err != nil {
		return 0, nil, err
	}
	if header.Size < headerBytes || header.Size > s.message || header.Tag != tag {
		return 0, nil, fmt.Errorf("%w: %d bytes with tag %d", errAnswer, header.Size, header.Tag)
	}
	body := make([]byte, header.Size-headerBytes)
	_, err := io.ReadFull(s.conn, body)
	return header.Kind, body, err
}

var errAnswer = errors.New("not an answer of 9P")

// pack a request. A string goes ahead as its length.
func pack(kind byte, tag uint16, fields []any) ([]byte, error) {
	request, err := binary.Append(make([]byte, 4), binary.LittleEndian, struct {
		Kind byte
		Tag  uint16
	}{kind, tag})
	for _, field := range fields {
		text, isText := field.(string)
		if isText {
			field = uint16(len(text)) //nolint:gosec // G115: names are bounded
		}
		if err == nil {
			request, err = binary.Append(request, binary.LittleEndian, field)
		}
		request = append(request, text...)
	}
	binary.LittleEndian.PutUint32(request, uint32(len(request))) //nolint:gosec // G115: so are requests
	return request, err
}

// take a value of fixed size from the beginning of an answer's body.
func take[T any](from []byte) (T, []byte, error) {
	var value T
	n, err := binary.Decode(from, binary.LittleEndian, &value)
	if err != nil {
		return value, nil, fmt.Errorf("%w: it is cut short", errAnswer)
	}
	return value, from[n:], nil
}

func takeText(from []byte) (string, []byte, error) {
	n, rest, err := take[uint16](from)
	if err == nil && int(n) > len(rest) {
		err = fmt.Errorf("%w: it is cut short", errAnswer)
	}
	if err != nil {
		return "", nil, err
	}
	return string(rest[:n]), rest[n:], nil
}
