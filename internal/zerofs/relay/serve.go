package relay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"time"
)

const (
	// partingTime for the last answers to a client.
	partingTime = 10 * time.Second
	// acceptPause after a client could not be let in.
	acceptPause = 100 * time.Millisecond
)

// Serve clients until Drain or Close, which end it without an error.
func (r *Relay) Serve(l net.Listener) error {
	r.mu.Lock()
	r.listeners[l] = struct{}{}
	r.mu.Unlock()
	for {
		conn, err := l.Accept()
		switch {
		case r.reading.Err() != nil:
			if err == nil {
				_ = conn.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return fmt.Errorf("serve NBD: %w", err)
		case err != nil: // out of descriptors, or the client has gone again
			r.options.Log.Warn("a client could not be let in", "error", err)
			select {
			case <-time.After(acceptPause):
			case <-r.reading.Done():
			}
			continue
		}
		r.serving.Go(func() { r.serve(conn) })
	}
}

func (r *Relay) serve(conn net.Conn) {
	r.mu.Lock()
	r.conns[conn] = struct{}{}
	late := r.reading.Err() != nil
	r.mu.Unlock()
	defer func() {
		_ = conn.Close()
		r.mu.Lock()
		delete(r.conns, conn)
		r.mu.Unlock()
	}()
	if late {
		return
	}
	e, err := r.greet(conn)
	if err != nil {
		if !errors.Is(err, errAborted) {
			r.options.Log.Info("a client got no export", "error", err)
		}
		return
	}
	defer func() { <-e.taken }()
	r.converse(conn, e)
}

// greet a client, whose export is taken then.
func (r *Relay) greet(conn net.Conn) (*export, error) {
	ctx, cancel := context.WithTimeout(r.reading, greetTime)
	defer cancel()
	if err := conn.SetDeadline(time.Now().Add(greetTime)); err != nil {
		return nil, err
	}
	var taken *export
	_, err := negotiate(conn, func(name string, take bool) (offer, error) {
		o, err := r.look(ctx, name)
		if err == nil && take {
			e := r.export(name)
			if err = e.take(ctx, o); err == nil {
				taken = e
			}
		}
		return o, err
	})
	if err == nil {
		err = conn.SetDeadline(time.Time{})
	}
	if err != nil && taken != nil {
		<-taken.taken
	}
	return taken, err
}

// look at an export as ZeroFS has it now, once it is up. A ZeroFS that ends meanwhile is
// asked again in its next life.
func (r *Relay) look(ctx context.Context, name string) (offer, error) {
	for {
		r.mu.Lock()
		up, next := r.up, r.next
		r.mu.Unlock()
		err := errors.New("ZeroFS is away")
		if up {
			var u *upstream
			u, err = dial(ctx, r.options.Upstream, name)
			if err == nil {
				u.close()
				return u.offer, nil
			}
			if errors.Is(err, errNoExport) {
				return offer{}, err
			}
		}
		select {
		case <-next:
		case <-ctx.Done():
			return offer{}, errors.Join(err, context.Cause(ctx))
		}
	}
}

// take the export for a client, once the former one has gone.
func (e *export) take(ctx context.Context, o offer) error {
	if had := e.size.Load(); o.size < had {
		return fmt.Errorf("export %s has %d bytes, and had %d", e.name, o.size, had)
	}
	select {
	case e.taken <- struct{}{}:
	case <-ctx.Done():
		return fmt.Errorf("export %s has a client already: %w", e.name, context.Cause(ctx))
	}
	e.size.Store(o.size)
	return nil
}

// converse with a client until it goes, or until all is drained.
func (r *Relay) converse(conn net.Conn, e *export) {
	if !r.enter() {
		return
	}
	c := &client{conn: conn, in: bufio.NewReaderSize(conn, readAhead), out: newOutbox(conn)}
	e.post(func() { e.attach(c) })
	err := c.read(e)
	r.readers.Done()
	if r.reading.Err() != nil {
		select {
		case <-r.drained:
		case <-r.working.Done():
		}
		_ = conn.SetWriteDeadline(time.Now().Add(partingTime))
		c.out.close()
		<-c.out.idle
		return
	}
	r.options.Log.Info("a client went away", "export", e.name, "why", err)
	e.wait(func() { e.detach(c) })
	c.out.close()
}

// enter among the readers, unless there are to be none.
func (r *Relay) enter() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.reading.Err() != nil {
		return false
	}
	r.readers.Add(1)
	return true
}
