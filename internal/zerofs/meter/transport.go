package meter

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"sync"
	"time"
)

// Limits of a connection to the store, which are those that ZeroFS has without a meter:
// of object_store 0.12.4 (client/mod.rs) and reqwest 0.12 (async_impl/client.rs).
const (
	connectTime = 5 * time.Second
	idleTime    = 90 * time.Second
	// keepAlive of a connection that nothing is sent on, and how many probes may be lost.
	keepAlive       = 15 * time.Second
	keepAliveProbes = 3
	// lostTime until the meter abandons a connection whose packets are not
	// acknowledged.
	lostTime = 30 * time.Second
	// bufferSize of a copy between connections, in bytes.
	bufferSize = 32 << 10
)

// transport to a store, one request for each request of ZeroFS. It repeats a request
// only on an idle connection that the store had closed, as reqwest does.
func transport(roots *x509.CertPool) *http.Transport {
	dialer := &net.Dialer{
		Timeout:         connectTime,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: keepAlive, Interval: keepAlive, Count: keepAliveProbes},
		Control:         giveUp,
	}
	return &http.Transport{
		// With a proxy_url, ZeroFS looks at none of the environment's any more.
		Proxy:               http.ProxyFromEnvironment,
		DialContext:         dialer.DialContext,
		TLSClientConfig:     &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12},
		TLSHandshakeTimeout: connectTime,
		DisableCompression:  true, // bodies pass as they are
		// As many as ZeroFS had at once; two, which is the default, would cost it a handshake
		// for most requests.
		MaxIdleConnsPerHost: 1 << 10,
		IdleConnTimeout:     idleTime,
	}
}

// buffers for copies.
type buffers struct{ pool sync.Pool }

// Get is httputil.BufferPool's.
func (b *buffers) Get() []byte {
	if buffer, ok := b.pool.Get().(*[bufferSize]byte); ok {
		return buffer[:]
	}
	return make([]byte, bufferSize)
}

// Put is httputil.BufferPool's.
func (b *buffers) Put(buffer []byte) { b.pool.Put((*[bufferSize]byte)(buffer)) }
