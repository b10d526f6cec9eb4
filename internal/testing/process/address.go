package process

import (
	"context"
	"fmt"
	"net"
)

// Address is one on loopback that no listener has, for a program that takes its address as an
// argument.
func Address(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("free address: %w", err)
	}
	defer func() { _ = l.Close() }()
	return l.Addr().String(), nil
}
