//go:build linux

package slowdisk

import (
	"bytes"
	"encoding/binary"
	"io"
	"net"
	"slices"
	"testing"
	"time"
)

// The disk answers a flush itself, after its time. A write and a read that come after it are
// not delayed, and reach the server. nbdkit answers the write with a simple reply, the read
// with a structured one.
func TestFlushTakesItsTime(t *testing.T) {
	d := &Disk{latency: 50 * time.Millisecond}
	client, clientEnd := net.Pipe()
	server, serverEnd := net.Pipe()
	go d.relay(clientEnd, serverEnd)
	t.Cleanup(func() { _ = client.Close() })
	wrote, read, flushed := simple("written-"), append(structured("was-read", 3), "abc"...), structured("flushed-", 0)
	begin := time.Now()
	go func() {
		_, _ = server.Write(make([]byte, greetingBytes))
		_, _ = io.CopyN(io.Discard, server, 4+28+512+28)
		_, _ = server.Write(append(bytes.Clone(wrote), read...))
	}()
	go func() {
		const commandRead = 0
		_, _ = client.Write(slices.Concat(make([]byte, 4), ask(commandFlush, "flushed-", 0), ask(commandWrite, "written-", 512), make([]byte, 512), ask(commandRead, "was-read", 3)))
	}()
	want := slices.Concat(make([]byte, greetingBytes), wrote, read, flushed)
	got := make([]byte, len(want))
	if _, err := io.ReadFull(client, got); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(begin); took < d.latency {
		t.Errorf("the flush took %s", took)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("replies %x, want %x", got, want)
	}
	if d.flushes.Load() != 1 || d.written.Load() != 512 {
		t.Errorf("%d flushes, %d bytes", d.flushes.Load(), d.written.Load())
	}
}

func ask(command uint16, cookie string, length uint32) []byte {
	out := binary.BigEndian.AppendUint32(nil, request)
	out = binary.BigEndian.AppendUint16(out, 0)
	out = binary.BigEndian.AppendUint16(out, command)
	return binary.BigEndian.AppendUint32(append(out, cookie+"-offset-"...), length)
}

func simple(cookie string) []byte {
	out := binary.BigEndian.AppendUint32(nil, simpleReply)
	return append(binary.BigEndian.AppendUint32(out, 0), cookie...)
}

func structured(cookie string, length uint32) []byte {
	out := binary.BigEndian.AppendUint32(nil, structuredReply)
	out = binary.BigEndian.AppendUint32(out, flagDone<<16)
	return binary.BigEndian.AppendUint32(append(out, cookie...), length)
}
