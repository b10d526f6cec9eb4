package main

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/google/go-containerregistry/pkg/registry"
)

// standIn answers in the place of the hosts that serve a release, so that commands for these
// hosts run unchanged without the Internet. It is an HTTPS proxy for them and for no other, with
// certificates of an issuer of its own. ghcr.io is a registry; FOLDER/hosts/HOST has the files
// of HOST. FOLDER/env has the variables that lead a command here.
func standIn(args []string) error {
	listen, folder := args[0], args[1]
	certificates, err := newIssuer(listen)
	if err != nil {
		return err
	}
	blobs := filepath.Join(folder, "blobs")
	if err := os.MkdirAll(blobs, 0o750); err != nil {
		return fmt.Errorf("folder of the stand-in: %w", err)
	}
	quiet := log.New(io.Discard, "", 0)
	s := &site{
		files: filepath.Join(folder, "hosts"),
		images: registry.New(registry.Logger(quiet), registry.WithReferrersSupport(true),
			registry.WithBlobHandler(registry.NewDiskBlobHandler(blobs))),
	}
	secure, err := net.Listen("tcp", net.JoinHostPort(listen, "0"))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	proxy, err := net.Listen("tcp", net.JoinHostPort(listen, "0"))
	if err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	tunnel := &tunnel{site: s, to: secure.Addr().String()}
	failed := make(chan error, 2)
	// The registry reads one upload at a time. By HTTP/2 the others would fill the window that
	// they share with it, and all would wait indefinitely.
	var protocols http.Protocols
	protocols.SetHTTP1(true)
	server := func(h http.Handler, config *tls.Config) *http.Server {
		return &http.Server{Handler: h, TLSConfig: config, ErrorLog: quiet, ReadHeaderTimeout: 10 * time.Second, Protocols: &protocols}
	}
	go func() { failed <- server(s, certificates.config()).ServeTLS(secure, "", "") }()
	go func() { failed <- server(tunnel, nil).Serve(proxy) }()
	if err := announce(folder, certificates.pem, secure.Addr().String(), proxy.Addr().String()); err != nil {
		return err
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	select {
	case <-ctx.Done():
		return nil
	case err := <-failed:
		return err
	}
}

// announce writes the file env last and whole, because its presence means readiness.
func announce(folder string, issuer []byte, secure, proxy string) error {
	folder, err := filepath.Abs(folder)
	if err != nil {
		return fmt.Errorf("folder of the stand-in: %w", err)
	}
	ca := filepath.Join(folder, "ca.crt")
	var env bytes.Buffer
	for _, v := range [][2]string{
		{"HTTPS_PROXY", "http://" + proxy}, {"https_proxy", "http://" + proxy},
		{"NO_PROXY", "127.0.0.1,localhost"}, {"no_proxy", "127.0.0.1,localhost"},
		{"SSL_CERT_FILE", ca}, {"CURL_CA_BUNDLE", ca}, {"STAND_IN", secure},
	} {
		fmt.Fprintf(&env, "export %s=%s\n", v[0], v[1])
	}
	part := filepath.Join(folder, "env.part")
	return errors.Join(os.WriteFile(ca, issuer, 0o600), os.WriteFile(part, env.Bytes(), 0o600), os.Rename(part, filepath.Join(folder, "env")))
}

const registryHost = "ghcr.io"

// site serves the hosts.
type site struct {
	files  string
	images http.Handler
}

// has a host?
func (s *site) has(host string) bool {
	if host == registryHost {
		return true
	}
	info, err := os.Stat(filepath.Join(s.files, filepath.Base(host)))
	return err == nil && info.IsDir()
}

func (s *site) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if strings.HasPrefix(r.URL.Path, "/v2/") {
		s.images.ServeHTTP(w, r)
		return
	}
	host, _, _ := strings.Cut(r.Host, ":")
	http.FileServer(http.Dir(filepath.Join(s.files, filepath.Base(host)))).ServeHTTP(w, r)
}

// tunnel is a proxy that leads every host of the site to the site, and refuses any other.
type tunnel struct {
	site *site
	to   string
}

func (t *tunnel) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	host, _, _ := net.SplitHostPort(r.Host)
	if r.Method != http.MethodConnect || !t.site.has(host) {
		fmt.Fprintln(os.Stderr, "refused:", r.Method, r.Host)
		http.Error(w, "the stand-in has no host "+r.Host, http.StatusForbidden)
		return
	}
	there, err := net.Dial("tcp", t.to)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = there.Close() }()
	w.WriteHeader(http.StatusOK)
	here, early, err := http.NewResponseController(w).Hijack()
	if err != nil {
		fmt.Fprintln(os.Stderr, "hijack:", err)
		return
	}
	defer func() { _ = here.Close() }()
	go func() {
		_, _ = io.Copy(there, early) // what the server has read ahead, and then the rest
		_ = there.(*net.TCPConn).CloseWrite()
	}()
	_, _ = io.Copy(here, there)
}
