package watch

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgstorage/pgstorage/internal/site/report"
)

func TestProblemsAreOfFewWords(t *testing.T) {
	state := func(code string) error {
		return fmt.Errorf("ask: %w", &pgconn.PgError{Code: code, Message: "run rm -rf"})
	}
	network := func(err error) error {
		return fmt.Errorf("connect: %w", &net.OpError{Op: "dial", Err: os.NewSyscallError("connect", err)})
	}
	for name, c := range map[string]struct {
		err  error
		want report.Problem
	}{
		"no files":                {fmt.Errorf("%w: %w", errNoCertificate, os.ErrNotExist), report.NoCertificate},
		"no pg_hba.conf entry":    {state("28000"), report.AuthenticationFailed},
		"a wrong password":        {state("28P01"), report.AuthenticationFailed},
		"statement_timeout":       {state("57014"), report.TimedOut},
		"starting up":             {state("57P03"), report.Refused},
		"shutting down":           {state("57P01"), report.Refused},
		"too many connections":    {state("53300"), report.Refused},
		"no permission":           {state("42501"), report.NotUnderstood},
		"no such function":        {state("42883"), report.NotUnderstood},
		"no code":                 {state(""), report.NotUnderstood},
		"unknown authority":       {&tls.CertificateVerificationError{Err: errors.New("x")}, report.TLSFailed},
		"an alert":                {&net.OpError{Op: "remote error", Err: tls.AlertError(44)}, report.TLSFailed},
		"not TLS":                 {tls.RecordHeaderError{Msg: "x"}, report.TLSFailed},
		"no TLS":                  {errors.New("tls error: server refused TLS connection"), report.TLSFailed},
		"no such host":            {&net.DNSError{IsNotFound: true}, report.NoRoute},
		"no answer about a host":  {&net.DNSError{IsTimeout: true}, report.NoRoute},
		"no route to a host":      {network(syscall.EHOSTUNREACH), report.NoRoute},
		"no route to a network":   {network(syscall.ENETUNREACH), report.NoRoute},
		"no listener":             {network(syscall.ECONNREFUSED), report.Refused},
		"a reset":                 {network(syscall.ECONNRESET), report.Refused},
		"an end":                  {fmt.Errorf("ask: %w", io.ErrUnexpectedEOF), report.Refused},
		"no packet":               {network(syscall.ETIMEDOUT), report.TimedOut},
		"no time":                 {fmt.Errorf("ask: %w", context.DeadlineExceeded), report.TimedOut},
		"an unexpected answer":    {errNotUnderstood, report.NotUnderstood},
		"anything else":           {errors.New("x"), report.NotUnderstood},
		"two addresses, one of a": {errors.Join(network(syscall.ECONNREFUSED), state("28000")), report.AuthenticationFailed},
	} {
		if got := problemOf(c.err); got != c.want || !got.Known() {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
}
