//go:build zerofs && linux

package meter

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"testing"
	"time"
)

// Constants of the NBD protocol (doc/proto.md of NetworkBlockDevice/nbd).
const (
	nbdOption  = 0x49484156454F5054
	nbdExport  = 1 // NBD_OPT_EXPORT_NAME
	nbdFixed   = 3 // NBD_FLAG_C_FIXED_NEWSTYLE and _NO_ZEROES
	nbdRequest = 0x25609513
	nbdRead    = 0
	nbdWrite   = 1
	nbdFlush   = 3
)

// exportName and exportSize of the only export.
const (
	exportName = "disk"
	exportSize = 64 << 20
)

// disk is a client of the export, which needs no kernel. It does one thing at a time,
// and ends the test where that fails.
type disk struct {
	testing.TB
	conn net.Conn
}

func openDisk(t testing.TB, socket string) *disk {
	t.Helper()
	conn, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	d := &disk{t, conn}
	d.talk(nil, 18) // the greeting
	d.talk(packed(uint32(nbdFixed), uint64(nbdOption), uint32(nbdExport), uint32(len(exportName)), []byte(exportName)), 10)
	return d
}

func packed(values ...any) []byte {
	var all bytes.Buffer
	for _, v := range values {
		_ = binary.Write(&all, binary.BigEndian, v)
	}
	return all.Bytes()
}

func (d *disk) talk(ask []byte, answer int) []byte {
	d.Helper()
	if err := d.conn.SetDeadline(time.Now().Add(time.Minute)); err != nil {
		d.Fatal(err)
	}
	if _, err := d.conn.Write(ask); err != nil {
		d.Fatal(err)
	}
	got := make([]byte, answer)
	if _, err := io.ReadFull(d.conn, got); err != nil {
		d.Fatal(err)
	}
	return got
}

func (d *disk) do(kind uint16, at, length int, data []byte) {
	d.Helper()
	answer := d.talk(packed(uint32(nbdRequest), uint16(0), kind, uint64(1), uint64(at), uint32(length), data), 16)
	if code := binary.BigEndian.Uint32(answer[4:]); code != 0 {
		d.Fatal(fmt.Errorf("NBD error %d", code))
	}
}

func (d *disk) write(at int, data []byte) {
	d.Helper()
	d.do(nbdWrite, at, len(data), data)
}

func (d *disk) flush() {
	d.Helper()
	d.do(nbdFlush, 0, 0, nil)
}

func (d *disk) read(at, length int) []byte {
	d.Helper()
	d.do(nbdRead, at, length, nil)
	return d.talk(nil, length)
}
