package relay

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
)

// Constants of the NBD protocol, handshake phase. No library has the server's part of
// it alone. Existing ones keep the connection, serve one request after the other, and
// lack trims.
const (
	greeting    = 0x4e42444d41474943 // "NBDMAGIC"
	optionMagic = 0x49484156454f5054 // "IHAVEOPT"
	optionReply = 0x3e889045565a9

	fixedNewstyle = 1 << 0
	noZeroes      = 1 << 1

	optExportName = 1
	optAbort      = 2
	optInfo       = 6
	optGo         = 7

	repAck            = 1
	repInfo           = 3
	repErrUnsupported = 1<<31 | 1
	repErrInvalid     = 1<<31 | 3
	repErrUnknown     = 1<<31 | 6

	infoExport = 0

	// Flags of an export. A flush covers what was written on any connection of ZeroFS.
	// A client still has one connection, so that its end leaves nothing under way.
	hasFlags  = 1 << 0
	readOnly  = 1 << 1
	sendFlush = 1 << 2
	sendTrim  = 1 << 5
	// passedOn of what ZeroFS offers. The kernel replaces forced unit access, which is
	// not, by flushes.
	passedOn = hasFlags | readOnly | sendFlush | sendTrim

	maxOption = 4 << 10
)

var errAborted = errors.New("the client ended the negotiation")

// lookFunc describes an export, and takes it where the client has chosen it.
type lookFunc func(name string, take bool) (offer, error)

// negotiate with a client until it has chosen an export.
func negotiate(conn net.Conn, look lookFunc) (name string, err error) {
	hello := binary.BigEndian.AppendUint64(nil, greeting)
	hello = binary.BigEndian.AppendUint64(hello, optionMagic)
	hello = binary.BigEndian.AppendUint16(hello, fixedNewstyle|noZeroes)
	if _, err := conn.Write(hello); err != nil {
		return "", err
	}
	var b [4]byte
	if _, err := io.ReadFull(conn, b[:]); err != nil {
		return "", err
	}
	flags := binary.BigEndian.Uint32(b[:])
	if flags&fixedNewstyle == 0 {
		return "", errors.New("the client knows no fixed newstyle negotiation")
	}
	n := negotiation{conn: conn, look: look, zeroes: flags&noZeroes == 0}
	for {
		option, data, err := readOption(conn)
		if err != nil {
			return "", err
		}
		if name, done, err := n.handle(option, data); done || err != nil {
			return name, err
		}
	}
}

type negotiation struct {
	conn   net.Conn
	look   lookFunc
	zeroes bool
}

func (n negotiation) handle(option uint32, data []byte) (name string, done bool, err error) {
	switch option {
	case optAbort:
		return "", true, errors.Join(errAborted, n.reply(option, repAck, nil))
	case optExportName:
		name = string(data)
		return name, true, n.plain(name)
	case optInfo, optGo:
		name, ok := exportOf(data)
		if !ok {
			return "", false, n.reply(option, repErrInvalid, nil)
		}
		o, err := n.look(name, option == optGo)
		if errors.Is(err, errNoExport) {
			return "", false, n.reply(option, repErrUnknown, nil)
		}
		if err != nil {
			return "", false, err
		}
		return name, option == optGo, n.inform(option, o)
	}
	return "", false, n.reply(option, repErrUnsupported, nil)
}

// inform a client about an export. It omits block sizes, as ZeroFS does.
func (n negotiation) inform(option uint32, o offer) error {
	info := binary.BigEndian.AppendUint16(nil, infoExport)
	info = binary.BigEndian.AppendUint64(info, o.size)
	info = binary.BigEndian.AppendUint16(info, o.flags&passedOn)
	return errors.Join(n.reply(option, repInfo, info), n.reply(option, repAck, nil))
}

// plain is the answer to an old option, which has none for an export that is not there.
func (n negotiation) plain(name string) error {
	o, err := n.look(name, true)
	if err != nil {
		return err
	}
	b := binary.BigEndian.AppendUint64(nil, o.size)
	b = binary.BigEndian.AppendUint16(b, o.flags&passedOn)
	if n.zeroes {
		b = append(b, make([]byte, 124)...)
	}
	_, err = n.conn.Write(b)
	return err
}

func (n negotiation) reply(option, kind uint32, data []byte) error {
	b := binary.BigEndian.AppendUint64(nil, optionReply)
	b = binary.BigEndian.AppendUint32(b, option)
	b = binary.BigEndian.AppendUint32(b, kind)
	b = binary.BigEndian.AppendUint32(b, uint32(len(data))) //nolint:gosec // G115: some bytes
	_, err := n.conn.Write(append(b, data...))
	return err
}

func readOption(r io.Reader) (option uint32, data []byte, err error) {
	var b [16]byte
	if _, err := io.ReadFull(r, b[:]); err != nil {
		return 0, nil, err
	}
	if binary.BigEndian.Uint64(b[:]) != optionMagic {
		return 0, nil, errors.New("an option of the client is not of the NBD protocol")
	}
	length := binary.BigEndian.Uint32(b[12:])
	if length > maxOption {
		return 0, nil, fmt.Errorf("an option of the client has %d bytes", length)
	}
	data = make([]byte, length)
	_, err = io.ReadFull(r, data)
	return binary.BigEndian.Uint32(b[8:]), data, err
}

// exportOf the data of NBD_OPT_INFO and NBD_OPT_GO: a length, the name, and what the
// client wants to know.
func exportOf(data []byte) (string, bool) {
	if len(data) < 4 {
		return "", false
	}
	length := uint64(binary.BigEndian.Uint32(data))
	if length+6 > uint64(len(data)) {
		return "", false
	}
	return string(data[4 : 4+length]), true
}
