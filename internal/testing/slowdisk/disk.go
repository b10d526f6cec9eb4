//go:build linux

// Package slowdisk is a disk whose flush takes a known time, for measurements in virtual
// machines: ratios between settings mean something on it.
package slowdisk

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pgstorage/pgstorage/internal/testing/vm"
)

// Options of a disk.
type Options struct {
	// Path of the file behind it, made of SizeBytes where there is none.
	Path      string
	SizeBytes int64
	// Flush is the time that a flush takes.
	Flush time.Duration
	// Rate in bytes that are written in a second; 0 is without limit.
	Rate int64
}

// Disk relays between QEMU and nbdkit, whose delay filter delays everything but a flush. Disk
// answers a flush itself, when the time that a flush takes is over. The disk behind it is a
// file in the host's memory, whose own costs the host does not promise. Tests do not cut the
// power of this disk. The protocol:
// https://github.com/NetworkBlockDevice/nbd/blob/master/doc/proto.md
type Disk struct {
	// Socket is for vm.Disk.NBD.
	Socket string

	latency time.Duration
	rate    int64
	nbdkit  *vm.Server
	to      string // its socket

	written, flushes, trims atomic.Int64
}

// Start a disk that ends with ctx.
func Start(ctx context.Context, o Options) (*Disk, error) {
	server, err := vm.Serve(ctx, vm.Export{Path: o.Path, SizeBytes: o.SizeBytes, Log: os.Stderr})
	if err != nil {
		return nil, err
	}
	d := &Disk{latency: o.Flush, rate: o.Rate, nbdkit: server, to: server.Socket}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "unix", filepath.Join(filepath.Dir(server.Socket), "slow"))
	if err != nil {
		server.Kill()
		return nil, err
	}
	context.AfterFunc(ctx, func() {
		_ = listener.Close()
		server.Kill()
	})
	go func() {
		if err := d.serve(ctx, listener); err != nil {
			fmt.Fprintln(os.Stderr, "the disk:", err)
		}
	}()
	d.Socket = listener.Addr().String()
	return d, nil
}

// Close ends nbdkit.
func (d *Disk) Close() { d.nbdkit.Kill() }

// WrittenBytes counts the bytes of all write requests.
func (d *Disk) WrittenBytes() int64 { return d.written.Load() }

// Flushes counts the flush requests.
func (d *Disk) Flushes() int64 { return d.flushes.Load() }

// The protocol's numbers.
const (
	greetingBytes    = 18
	option           = 0x49484156 // the first half of IHAVEOPT
	request          = 0x25609513
	optionReply      = 0x0003e889 // the first half
	structuredReply  = 0x668e33ef
	replyHeader      = 20 // of both
	simpleReply      = 0x67446698
	simpleReplyBytes = 16
	commandWrite     = 1
	commandFlush     = 3
	commandTrim      = 4
	flagFUA          = 1
	flagDone         = 1
)

// serve connections until the listener is closed.
func (d *Disk) serve(ctx context.Context, listener net.Listener) error {
	for {
		client, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		server, err := (&net.Dialer{}).DialContext(ctx, "unix", d.to)
		if err != nil {
			return errors.Join(err, client.Close())
		}
		go d.relay(client, server)
	}
}

// relay copies until one side closes, which is how a connection ends.
func (d *Disk) relay(client, server net.Conn) {
	replies := &sync.Mutex{}
	go func() {
		_ = relayReplies(client, server, replies)
		_ = client.Close()
	}()
	_ = d.relayRequests(client, server, replies)
	_ = server.Close()
}

// relayReplies relays whole replies, so that the reply of a flush can come in between.
func relayReplies(client io.Writer, server io.Reader, replies sync.Locker) error {
	if _, err := io.CopyN(client, server, greetingBytes); err != nil {
		return err
	}
	header := make([]byte, replyHeader)
	for {
		if err := relayReply(client, server, header, replies); err != nil {
			return err
		}
	}
}

// relayReply relays a reply of any form. A simple reply has no data: with the structured
// replies that QEMU requests, only those carry what was read.
func relayReply(client io.Writer, server io.Reader, header []byte, replies sync.Locker) error {
	if _, err := io.ReadFull(server, header[:4]); err != nil {
		return err
	}
	length := int64(0)
	switch magic := binary.BigEndian.Uint32(header); magic {
	case simpleReply:
		header = header[:simpleReplyBytes]
	case structuredReply, optionReply:
	default:
		return fmt.Errorf("a reply begins with %x", magic)
	}
	if _, err := io.ReadFull(server, header[4:]); err != nil {
		return err
	}
	if len(header) == replyHeader {
		length = int64(binary.BigEndian.Uint32(header[16:]))
	}
	replies.Lock()
	defer replies.Unlock()
	if _, err := client.Write(header); err != nil {
		return err
	}
	_, err := io.CopyN(client, server, length)
	return err
}

func (d *Disk) relayRequests(client io.ReadWriter, server io.Writer, replies sync.Locker) error {
	if _, err := io.CopyN(server, client, 4); err != nil { // the client's flags
		return err
	}
	header := make([]byte, 28)
	link := pace{rate: d.rate}
	for {
		if _, err := io.ReadFull(client, header[:4]); err != nil {
			return err
		}
		var err error
		switch magic := binary.BigEndian.Uint32(header); magic {
		case option:
			err = relayWhole(client, server, header[:16], 12)
		case request:
			err = d.relayRequest(client, server, header, replies, &link)
		default:
			err = fmt.Errorf("a request begins with %x", magic)
		}
		if err != nil {
			return err
		}
	}
}

// relayWhole reads the rest of a header, and relays it with its data. The header has the length
// of the data.
func relayWhole(client io.Reader, server io.Writer, header []byte, length int) error {
	if _, err := io.ReadFull(client, header[4:]); err != nil {
		return err
	}
	if _, err := server.Write(header); err != nil {
		return err
	}
	_, err := io.CopyN(server, client, int64(binary.BigEndian.Uint32(header[length:])))
	return err
}

func (d *Disk) relayRequest(client io.ReadWriter, server io.Writer, header []byte, replies sync.Locker, link *pace) error {
	if _, err := io.ReadFull(client, header[4:]); err != nil {
		return err
	}
	length := int64(binary.BigEndian.Uint32(header[24:]))
	switch command := binary.BigEndian.Uint16(header[6:]); {
	case binary.BigEndian.Uint16(header[4:])&flagFUA != 0:
		return errors.New("a write with FUA: this disk knows flushes only")
	case command == commandFlush:
		d.flushes.Add(1)
		d.flush(client, header[8:16], replies)
		return nil
	case command == commandTrim:
		d.trims.Add(1)
		length = 0
	case command == commandWrite:
		d.written.Add(length)
		link.take(length)
	default:
		length = 0
	}
	if _, err := server.Write(header); err != nil {
		return err
	}
	_, err := io.CopyN(server, client, length)
	return err
}

// flush answers later, and delays nothing else.
func (d *Disk) flush(client io.Writer, cookie []byte, replies sync.Locker) {
	reply := binary.BigEndian.AppendUint32(nil, structuredReply)
	reply = binary.BigEndian.AppendUint16(reply, flagDone)
	reply = binary.BigEndian.AppendUint16(reply, 0) // no content
	reply = append(reply, cookie...)
	reply = binary.BigEndian.AppendUint32(reply, 0)
	time.AfterFunc(d.latency, func() {
		replies.Lock()
		defer replies.Unlock()
		_, _ = client.Write(reply) // a client that is gone waits for nothing
	})
}

// pace is that of a link which carries so many bytes in a second.
type pace struct {
	rate int64
	free time.Time // when all before was carried
}

// take the link for so many bytes.
func (p *pace) take(bytes int64) {
	if p.rate == 0 {
		return
	}
	if now := time.Now(); p.free.Before(now) {
		p.free = now
	}
	p.free = p.free.Add(time.Duration(bytes * int64(time.Second) / p.rate))
	<-time.After(time.Until(p.free))
}
