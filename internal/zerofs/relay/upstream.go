package relay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"

	"github.com/Merovius/nbd"
)

// connectTime for the handshake with a ZeroFS that listens.
const connectTime = time.Minute

// errNoExport: ZeroFS has no export of the name.
var errNoExport = errors.New("no such export")

// offer of an export.
type offer struct {
	size  uint64
	flags uint16
}

// upstream is one connection to ZeroFS, of one export.
type upstream struct {
	conn  net.Conn
	out   *outbox
	offer offer
	// life of ZeroFS.
	life  uint64
	count uint32
	// sent requests without an answer yet.
	sent map[uint64]*request
}

// dial ZeroFS for an export.
func dial(ctx context.Context, socket, export string) (*upstream, error) {
	ctx, cancel := context.WithTimeout(ctx, connectTime)
	defer cancel()
	conn, err := new(net.Dialer).DialContext(ctx, "unix", socket)
	if err != nil {
		return nil, fmt.Errorf("connect to ZeroFS: %w", err)
	}
	o, err := greet(ctx, conn, export)
	if err == nil {
		err = conn.SetDeadline(time.Time{}) // the library leaves one that has passed
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("export %s of ZeroFS: %w", export, err), conn.Close())
	}
	return &upstream{conn: conn, out: newOutbox(conn), offer: o, sent: map[uint64]*request{}}, nil
}

func greet(ctx context.Context, conn net.Conn, export string) (offer, error) {
	client, err := nbd.ClientHandshake(ctx, conn)
	if err != nil {
		return offer{}, err
	}
	e, err := client.Go(export)
	if err != nil && strings.Contains(err.Error(), "ERR_UNKNOWN") { // the library's type is not exported
		err = errors.Join(errNoExport, err)
	}
	return offer{size: e.Size, flags: e.Flags}, err
}

// send a request. Its cookie is this connection's own. The lower half is the length of
// the data in the answer, so that the reader needs no lookup.
func (u *upstream) send(r *request) {
	u.count++
	cookie := uint64(u.count) << 32
	if r.op == opRead {
		cookie |= uint64(r.length)
	}
	u.sent[cookie] = r
	h := r.header
	h.cookie = cookie
	if r.op == opWrite {
		u.out.put(h.encode(), r.data)
		return
	}
	u.out.put(h.encode())
}

// close at once. Its reader ends.
func (u *upstream) close() {
	_ = u.conn.Close()
	u.out.close()
}

// answer of ZeroFS.
type answer struct {
	cookie uint64
	code   uint32
	data   []byte
}

// read answers until the connection ends, which is the error.
func (u *upstream) read(each func(answer)) error {
	for {
		cookie, code, err := readReply(u.conn)
		if err != nil {
			return err
		}
		a := answer{cookie: cookie, code: code}
		if length := uint32(cookie); code == 0 && length > 0 { //nolint:gosec // G115: the lower half
			if length > maxLength {
				return errors.New("ZeroFS answered what it was not asked")
			}
			a.data = make([]byte, length)
			if _, err := io.ReadFull(u.conn, a.data); err != nil {
				return err
			}
		}
		each(a)
	}
}
