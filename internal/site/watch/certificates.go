package watch

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// errNoCertificate is that of files that are missing, or are not certificates.
var errNoCertificate = errors.New("no usable certificate")

// Files of a member's folder, as Secrets have them.
const (
	certificateFile = "tls.crt"
	keyFile         = "tls.key"
	authorityFile   = "ca.crt"
)

// maxFile in bytes. A Secret has at most 1 MiB; certificates of this many bytes are a mistake.
const maxFile = 256 << 10

// secure is the TLS of a session at a host, by the files of a folder as they are now. The
// server must have a certificate of the authority for that host.
func secure(folder, host string) (*tls.Config, error) {
	var contents [3][]byte
	for i, name := range []string{certificateFile, keyFile, authorityFile} {
		raw, err := readFile(filepath.Join(folder, name))
		if err != nil {
			return nil, fmt.Errorf("%w: %w", errNoCertificate, err)
		}
		contents[i] = raw
	}
	pair, err := tls.X509KeyPair(contents[0], contents[1])
	if err != nil {
		return nil, fmt.Errorf("%w: %s and %s: %w", errNoCertificate, certificateFile, keyFile, err)
	}
	authority := x509.NewCertPool()
	if !authority.AppendCertsFromPEM(contents[2]) {
		return nil, fmt.Errorf("%w: %s has no certificate", errNoCertificate, authorityFile)
	}
	return &tls.Config{
		MinVersion: tls.VersionTLS12, ServerName: host, RootCAs: authority,
		// It is sent whichever authorities the server trusts, so that a wrong one fails as such,
		// and not as a missing one.
		GetClientCertificate: func(*tls.CertificateRequestInfo) (*tls.Certificate, error) { return &pair, nil },
	}, nil
}

func readFile(path string) (raw []byte, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	raw, err = io.ReadAll(io.LimitReader(f, maxFile+1))
	if err == nil && len(raw) > maxFile {
		return nil, fmt.Errorf("%s has more than %d bytes", path, maxFile)
	}
	return raw, err
}
