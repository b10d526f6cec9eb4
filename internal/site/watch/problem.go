package watch

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"slices"
	"strings"
	"syscall"

	"github.com/jackc/pgx/v5/pgconn"

	"github.com/pgstorage/pgstorage/internal/site/report"
)

// problemOf an attempt that failed. A host with several addresses fails in several ways: what
// a server said comes before what was on the way to it.
func problemOf(err error) report.Problem {
	var server *pgconn.PgError
	switch {
	case errors.Is(err, errNoCertificate):
		return report.NoCertificate
	case errors.As(err, &server):
		return problemOfState(server.Code)
	case failedTLS(err):
		return report.TLSFailed
	case notFound(err):
		return report.NoRoute
	case timedOut(err):
		return report.TimedOut
	case isAny(err, cutOff):
		return report.Refused
	}
	return report.NotUnderstood
}

// problemOfState is that of a server's SQLSTATE
// (https://www.postgresql.org/docs/current/errcodes-appendix.html).
func problemOfState(code string) report.Problem {
	class := code[:min(2, len(code))]
	switch {
	case code == "57014": // query_canceled, by statement_timeout
		return report.TimedOut
	case class == "28": // invalid authorization
		return report.AuthenticationFailed
	case class == "08", class == "53", class == "57": // connection, resources, operator intervention: starts, stops, is full
		return report.Refused
	}
	return report.NotUnderstood
}

// noTLS is pgx's error of a server that has no TLS. It has no type.
const noTLS = "server refused TLS connection"

func failedTLS(err error) bool {
	var verification *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var constraint x509.CertificateInvalidError
	var alert *net.OpError
	switch {
	case errors.As(err, &verification), errors.As(err, &record), errors.As(err, &constraint):
		return true
	case errors.As(err, &alert) && (alert.Op == "remote error" || alert.Op == "local error"): // as crypto/tls names alerts
		return true
	}
	return err != nil && strings.Contains(err.Error(), noTLS)
}

var (
	unreachable = []error{syscall.EHOSTUNREACH, syscall.ENETUNREACH, syscall.EHOSTDOWN, syscall.ENETDOWN}
	cutOff      = []error{syscall.ECONNREFUSED, syscall.ECONNRESET, syscall.EPIPE, io.EOF, io.ErrUnexpectedEOF, net.ErrClosed}
)

func isAny(err error, these []error) bool {
	return slices.ContainsFunc(these, func(one error) bool { return errors.Is(err, one) })
}

func notFound(err error) bool {
	var name *net.DNSError
	return errors.As(err, &name) || isAny(err, unreachable)
}

func timedOut(err error) bool {
	var network net.Error
	return errors.Is(err, context.DeadlineExceeded) || pgconn.Timeout(err) || errors.As(err, &network) && network.Timeout()
}
