//go:build zerofs && linux

package supervise_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

// Constants of the NBD protocol (doc/proto.md of NetworkBlockDevice/nbd).
const (
	nbdOption   = 0x49484156454F5054
	nbdExport   = 1 // NBD_OPT_EXPORT_NAME
	nbdFixed    = 3 // NBD_FLAG_C_FIXED_NEWSTYLE and _NO_ZEROES
	nbdRequest  = 0x25609513
	nbdRead     = 0
	nbdWrite    = 1
	nbdFlush    = 3
	stride      = 32 << 10 // of ZeroFS' extents
	blockBytes  = 8 << 10
	longestWait = 5 * time.Minute
)

// disk is a client of one export, which needs no kernel. It does one thing at a time.
type disk struct{ conn net.Conn }

func openDisk(socket string) (*disk, error) { return openExport(socket, "disk") }

func openExport(socket, name string) (*disk, error) {
	conn, err := net.Dial("unix", socket)
	if err != nil {
		return nil, err
	}
	d := &disk{conn}
	var ask bytes.Buffer
	for _, v := range []any{uint32(nbdFixed), uint64(nbdOption), uint32(nbdExport), uint32(len(name)), []byte(name)} {
		_ = binary.Write(&ask, binary.BigEndian, v)
	}
	// The greeting, then size and flags.
	if _, err = d.talk(nil, 18); err == nil {
		_, err = d.talk(ask.Bytes(), 10)
	}
	if err != nil {
		return nil, fmt.Errorf("open the disk: %w", err)
	}
	return d, nil
}

func (d *disk) talk(ask []byte, answer int) ([]byte, error) {
	if err := d.conn.SetDeadline(time.Now().Add(longestWait)); err != nil {
		return nil, err
	}
	if _, err := d.conn.Write(ask); err != nil {
		return nil, err
	}
	got := make([]byte, answer)
	_, err := io.ReadFull(d.conn, got)
	return got, err
}

func (d *disk) do(kind uint16, at uint64, length uint32, data []byte) error {
	var ask bytes.Buffer
	for _, v := range []any{uint32(nbdRequest), uint16(0), kind, uint64(1), at, length, data} {
		_ = binary.Write(&ask, binary.BigEndian, v)
	}
	answer, err := d.talk(ask.Bytes(), 16)
	if err != nil {
		return err
	}
	if code := binary.BigEndian.Uint32(answer[4:]); code != 0 {
		return fmt.Errorf("NBD error %d", code)
	}
	return nil
}

func (d *disk) flush() error { return d.do(nbdFlush, 0, 0, nil) }

// block that no other number has.
func block(number int) []byte {
	return bytes.Repeat(binary.BigEndian.AppendUint64(nil, uint64(number)+1), blockBytes/8)
}

func (d *disk) write(number int) error {
	return d.do(nbdWrite, uint64(number)*stride, blockBytes, block(number))
}

// keep a block: write and flush it.
func (d *disk) keep(number int) error {
	if err := d.write(number); err != nil {
		return err
	}
	return d.flush()
}

// lost counts those of the first blocks that the disk does not have.
func (d *disk) lost(blocks int) (lost int, err error) {
	for i := range blocks {
		has, err := d.has(i)
		if err != nil {
			return lost, err
		}
		if !has {
			lost++
		}
	}
	return lost, nil
}

// has says that a block is as it was written.
func (d *disk) has(number int) (bool, error) {
	if err := d.do(nbdRead, uint64(number)*stride, blockBytes, nil); err != nil {
		return false, err
	}
	got, err := d.talk(nil, blockBytes)
	return bytes.Equal(got, block(number)), err
}
