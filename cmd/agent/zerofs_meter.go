package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/url"

	"github.com/pgstorage/pgstorage/internal/zerofs/meter"
)

// startMeter before a store, on a loopback address; none where neither is given. It is
// to be closed once ZeroFS has ended.
func startMeter(address, store string, log *slog.Logger) (*meter.Meter, error) {
	if address == "" && store == "" {
		return nil, nil
	}
	if address == "" || store == "" {
		return nil, errors.New("--meter and --store belong together")
	}
	at, err := url.Parse(store)
	if err != nil {
		return nil, fmt.Errorf("--store: %w", err)
	}
	m, err := meter.New(meter.Options{Store: at, Log: log})
	if err != nil {
		return nil, err
	}
	l, err := net.Listen("tcp", address)
	if err != nil {
		return nil, fmt.Errorf("--meter: %w", err)
	}
	go func() {
		if err := m.Serve(l); err != nil {
			log.Error("the store is out of reach: its meter ended", "error", err)
		}
	}()
	return m, nil
}
