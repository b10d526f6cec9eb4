package watch

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"k8s.io/utils/clock"

	server "github.com/pgstorage/pgstorage/internal/testing/postgres"
)

// authority of one site, as CloudNativePG makes one for each Cluster.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	issued      int64
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "a site"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, template, a.key.Public(), a.key)
	if err == nil {
		a.certificate, err = x509.ParseCertificate(raw)
	}
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func newKey(t *testing.T) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// issued certificate with its key, and its serial number.
type issued struct {
	certificate, key []byte
	serial           *big.Int
}

// issue a certificate to a client, or to a server by its hosts.
func (a *authority) issue(t *testing.T, name string, until time.Time, hosts ...string) issued {
	t.Helper()
	a.issued++
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.issued + 1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: until,
		DNSNames: hosts, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
	}
	raw, err := x509.CreateCertificate(rand.Reader, template, a.certificate, key.Public(), a.key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return issued{encode("CERTIFICATE", raw), encode("EC PRIVATE KEY", private), template.SerialNumber}
}

// client that a site lets in.
func (a *authority) client(t *testing.T) issued {
	t.Helper()
	return a.issue(t, user, a.certificate.NotAfter)
}

func (a *authority) pem() []byte { return encode("CERTIFICATE", a.certificate.Raw) }

func (a *authority) revoking(t *testing.T, serial *big.Int) []byte {
	t.Helper()
	list := &x509.RevocationList{
		Number: big.NewInt(1), ThisUpdate: a.certificate.NotBefore, NextUpdate: a.certificate.NotAfter,
		RevokedCertificateEntries: []x509.RevocationListEntry{{SerialNumber: serial, RevocationTime: a.certificate.NotBefore}},
	}
	raw, err := x509.CreateRevocationList(rand.Reader, list, a.certificate, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return encode("X509 CRL", raw)
}

func encode(kind string, raw []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: raw})
}

// site of this package's tests: Postgres that writes, and lets clients in by certificates
// alone, as CloudNativePG sets it up.
type site struct {
	*server.Server
	authority *authority
	// revoked is the certificate of a client that its list has.
	revoked issued
	port    uint16
}

var shared *site

func TestMain(m *testing.M) {
	code := m.Run()
	if shared != nil {
		_ = shared.Stop()
	}
	os.Exit(code)
}

const (
	access = "local all all trust\nlocal replication all trust\nhostssl postgres streaming_replica all cert\n"
	// secureSettings of a server.
	secureSettings = "ssl = on\nssl_cert_file = 'server.crt'\nssl_key_file = 'server.key'\nssl_ca_file = 'root.crt'\nssl_crl_file = 'root.crl'\n"
)

func started(t *testing.T) *site {
	t.Helper()
	if shared != nil {
		return shared
	}
	s := &site{authority: newAuthority(t), port: freePort(t)}
	s.revoked = s.authority.client(t)
	var err error
	s.Server, err = server.Start(t.Context(), "listen_addresses=127.0.0.1", fmt.Sprintf("port=%d", s.port),
		"pgstorage.primary=north", "pgstorage.topology=5f2c9a17", "pgstorage.epoch=2", "fsync=off")
	if errors.Is(err, server.ErrNone) {
		t.Skip(err)
	}
	if err != nil {
		t.Fatal(err)
	}
	own := s.authority.issue(t, "shop-rw", s.authority.certificate.NotAfter, "localhost")
	for name, content := range map[string][]byte{
		"server.crt": own.certificate, "server.key": own.key, "root.crt": s.authority.pem(), "root.crl": s.authority.revoking(t, s.revoked.serial),
		"pg_hba.conf": []byte(access), "postgresql.conf": []byte(secureSettings),
	} {
		if err := writeAs(s.Data, name, content); err != nil {
			t.Fatal(errors.Join(err, s.Stop()))
		}
	}
	if err := errors.Join(s.Down(t.Context()), s.Up(t.Context())); err != nil {
		t.Fatal(errors.Join(err, s.Stop()))
	}
	shared = s
	s.execute(t, "CREATE ROLE streaming_replica REPLICATION LOGIN")
	return s
}

// writeAs the owner of a folder.
func writeAs(folder, name string, content []byte) error {
	info, err := os.Stat(folder)
	if err != nil {
		return err
	}
	path := filepath.Join(folder, name)
	if err := os.Remove(path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		return err
	}
	owner := info.Sys().(*syscall.Stat_t)
	return os.Chown(path, int(owner.Uid), int(owner.Gid))
}

func freePort(t *testing.T) uint16 {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // nothing was accepted
	return portOf(t, l)
}

func portOf(t *testing.T, l net.Listener) uint16 {
	t.Helper()
	_, text, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil {
		t.Fatal(err)
	}
	return uint16(port)
}

// superuser by the Unix socket.
func (s *site) superuser(t *testing.T, use func(context.Context, *pgx.Conn) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), time.Minute)
	defer cancel()
	conn, err := pgx.Connect(ctx, fmt.Sprintf("host=%s port=%d user=postgres dbname=postgres", s.Dir, s.port))
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(use(ctx, conn), conn.Close(ctx)); err != nil {
		t.Fatal(err)
	}
}

func (s *site) execute(t *testing.T, statements ...string) {
	t.Helper()
	s.superuser(t, func(ctx context.Context, conn *pgx.Conn) error {
		for _, statement := range statements {
			if _, err := conn.Exec(ctx, statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	})
}

// value of a query, as text.
func (s *site) value(t *testing.T, query string) (value string) {
	t.Helper()
	s.superuser(t, func(ctx context.Context, conn *pgx.Conn) error { return conn.QueryRow(ctx, query).Scan(&value) })
	return value
}

// south is the site, as the watcher of another one reaches it.
func (s *site) south() Member { return Member{Name: "south", Host: "localhost", Port: s.port} }

// mounted folder of certificates for south. Empty content leaves a file out.
func mounted(t *testing.T, client issued, authority []byte) string {
	t.Helper()
	folder := t.TempDir()
	mount(t, folder, "south", client, authority)
	return folder
}

func mount(t *testing.T, folder, name string, client issued, authority []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Join(folder, name), 0o700); err != nil {
		t.Fatal(err)
	}
	for file, content := range map[string][]byte{certificateFile: client.certificate, keyFile: client.key, authorityFile: authority} {
		if len(content) == 0 {
			continue
		}
		if err := os.WriteFile(filepath.Join(folder, name, file), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// opened session at a member, which ends with the test.
func opened(t *testing.T, member Member, folder string) *asker {
	t.Helper()
	s := &asker{member: member, folder: folder, clock: clock.RealClock{}}
	return s
}

// trusted session at the site.
func (s *site) trusted(t *testing.T) *asker {
	t.Helper()
	return opened(t, s.south(), mounted(t, s.authority.client(t), s.authority.pem()))
}

// standby of the site, by pg_basebackup, until the test ends.
func (s *site) standby(t *testing.T) *site {
	t.Helper()
	out := &site{Server: &server.Server{Bin: s.Bin, Dir: s.Dir, Data: filepath.Join(s.Dir, "standby")}, authority: s.authority, port: freePort(t)}
	ctx := context.WithoutCancel(t.Context())
	from := fmt.Sprintf("--dbname=host=%s port=%d user=postgres", s.Dir, s.port)
	if err := s.Run(ctx, "pg_basebackup", from, "-D", out.Data, "-R", "-X", "stream", "-c", "fast", "--no-sync"); err != nil {
		t.Fatal(err)
	}
	options := strings.Join([]string{
		"listen_addresses=127.0.0.1", "unix_socket_directories=" + s.Dir, fmt.Sprintf("port=%d", out.port),
		"pgstorage.primary=north", "pgstorage.topology=5f2c9a17", "pgstorage.epoch=2", "fsync=off",
	}, " -c ")
	if err := s.Run(ctx, "pg_ctl", "-D", out.Data, "-w", "-t", "240", "-l", filepath.Join(s.Dir, "standby.log"), "-o", "-c "+options, "start"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(out.Down(ctx), os.RemoveAll(out.Data)); err != nil {
			t.Error(err)
		}
	})
	return out
}
