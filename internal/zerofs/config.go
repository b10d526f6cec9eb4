package zerofs

import (
	"fmt"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// ZeroFS expands these variables of the environment in its configuration, so the file
// contains neither secrets nor a node's name.
const (
	EnvAccessKeyID     = "AWS_ACCESS_KEY_ID"
	EnvSecretAccessKey = "AWS_SECRET_ACCESS_KEY" //nolint:gosec // the name of a variable
	EnvPassword        = "ZEROFS_PASSWORD"
	EnvNodeName        = "NODE_NAME"
)

// NodeNameInURL is the placeholder in Server.URL for the name of the server's node.
const NodeNameInURL = "${" + EnvNodeName + "}"

// MinFlushInterval is the least that ZeroFS accepts; it silently rounds up to it
// (LsmConfig::MIN_FLUSH_INTERVAL_SECS).
const MinFlushInterval = 5 * time.Second

// l0Unbounded is more tables at level 0 than ZeroFS 0.19 ever has. When level 0 is
// full, its SlateDB 0.9.2 answers a flush with success and stores nothing
// (flush_imm_memtables_to_l0 in mem_table_flush.rs). With the default of 16, a server
// loses flushed writes when it is killed, and also when it is stopped. SlateDB's
// compactor drains level 0 by its own count, not by this one.
const l0Unbounded = 1_000_000

// maxSocketPath of a Unix socket in bytes, without the NUL (unix(7), sun_path).
const maxSocketPath = 107

// bytesPerGB of ZeroFS' sizes, which are decimal.
const bytesPerGB = 1e9

// Server of one prefix of a bucket.
type Server struct {
	// Family of the program's version, which decides the keys of its configuration.
	Family v1alpha1.ZeroFSFamily
	// URL is s3://bucket/prefix. It may hold NodeNameInURL and no other variable.
	URL string
	// Endpoint is scheme and host of the store, without the bucket. Empty: Amazon S3
	// in Region.
	Endpoint string
	// Region of the bucket.
	Region string
	// PathStyle puts the bucket into the path of requests, not into the host's name.
	PathStyle bool
	// AllowHTTP accepts an endpoint without TLS.
	AllowHTTP bool
	// CacheDir is the absolute path of the cache on disk. ZeroFS makes a folder for
	// each prefix in it.
	CacheDir string
	// CacheSize on disk and CacheMemory, in bytes, above zero.
	CacheSize, CacheMemory int64
	// FlushInterval is how often ZeroFS writes data to the bucket that no client flushed:
	// whole seconds, at least MinFlushInterval.
	FlushInterval time.Duration
	// NBDSocket and NinePSocket are the absolute paths of the Unix sockets, up to 107
	// bytes each. Nothing else listens.
	NBDSocket, NinePSocket string
	// Meter is IP:port, on loopback, of the proxy for all requests to the store, which
	// speaks TLS for ZeroFS (package meter). Empty: no proxy.
	Meter string
	// PrometheusAddress is IP:port of the metrics. Empty: none, as must be with 0.19,
	// which has none (HasMetrics).
	PrometheusAddress string
}

// HasMetrics reports whether programs of a family can serve metrics.
func HasMetrics(f v1alpha1.ZeroFSFamily) bool { return f == v1alpha1.ZeroFS2 }

// The file. ZeroFS rejects unknown keys, so each is one that the family knows
// (zerofs/src/config.rs). Other keys keep their defaults, which a database needs.
// ignore_fsync would acknowledge flushes that did not happen, and sync_writes would
// flush at every write what ZFS orders by flushes. [aws] is free: names are those of
// object_store's AmazonS3ConfigKey without aws_, all values are strings.
type (
	file struct {
		Storage    storage     `toml:"storage"`
		Cache      cache       `toml:"cache"`
		LSM        lsm         `toml:"lsm"`
		Servers    servers     `toml:"servers"`
		Telemetry  *telemetry  `toml:"telemetry,omitempty"`
		Prometheus *prometheus `toml:"prometheus,omitempty"`
		AWS        aws         `toml:"aws"`
	}
	storage struct {
		URL      string `toml:"url"`
		Password string `toml:"encryption_password"`
	}
	cache struct {
		Dir      string  `toml:"dir"`
		DiskGB   float64 `toml:"disk_size_gb"`
		MemoryGB float64 `toml:"memory_size_gb"`
	}
	lsm struct {
		FlushIntervalSecs int64 `toml:"flush_interval_secs"`
		// L0MaxSSTs is not for 2, whose SlateDB 0.15 lets a flush wait for room (can_dispatch
		// in memtable_flusher/tracker.rs): 2 keeps its 256.
		L0MaxSSTs int64 `toml:"l0_max_ssts,omitempty"`
	}
	servers struct {
		NBD   socket `toml:"nbd"`
		NineP socket `toml:"ninep"`
	}
	socket struct {
		Path string `toml:"unix_socket"`
	}
	telemetry struct {
		Enabled bool `toml:"enabled"`
	}
	prometheus struct {
		Addresses []string `toml:"addresses"`
	}
	aws struct {
		AccessKeyID     string `toml:"access_key_id"`
		SecretAccessKey string `toml:"secret_access_key"`
		Region          string `toml:"region"`
		Endpoint        string `toml:"endpoint,omitempty"`
		VirtualHosted   string `toml:"virtual_hosted_style_request"`
		AllowHTTP       string `toml:"allow_http,omitempty"`
		ProxyURL        string `toml:"proxy_url,omitempty"`
	}
)

// Config returns the file for zerofs run -c. The same server gives the same bytes. The
// error names every field that is out of bounds.
func Config(s Server) ([]byte, error) {
	if err := s.validate(); err != nil {
		return nil, fmt.Errorf("configuration of ZeroFS: %w", err)
	}
	keys, err := s.aws()
	if err != nil {
		return nil, fmt.Errorf("configuration of ZeroFS: %w", err)
	}
	f := file{
		Storage: storage{URL: s.URL, Password: "${" + EnvPassword + "}"},
		Cache:   cache{Dir: s.CacheDir, DiskGB: float64(s.CacheSize) / bytesPerGB, MemoryGB: float64(s.CacheMemory) / bytesPerGB},
		LSM:     lsm{FlushIntervalSecs: int64(s.FlushInterval / time.Second)},
		Servers: servers{NBD: socket{s.NBDSocket}, NineP: socket{s.NinePSocket}},
		AWS:     keys,
	}
	switch s.Family {
	case v1alpha1.ZeroFS019:
		f.LSM.L0MaxSSTs = l0Unbounded
	case v1alpha1.ZeroFS2:
		f.Telemetry = &telemetry{Enabled: false}
	}
	if s.PrometheusAddress != "" {
		f.Prometheus = &prometheus{Addresses: []string{s.PrometheusAddress}}
	}
	text, err := toml.Marshal(f)
	if err != nil {
		return nil, fmt.Errorf("configuration of ZeroFS: %w", err)
	}
	return text, nil
}

func (s Server) aws() (aws, error) {
	a := aws{
		AccessKeyID: "${" + EnvAccessKeyID + "}", SecretAccessKey: "${" + EnvSecretAccessKey + "}",
		Region: s.Region, Endpoint: s.Endpoint, VirtualHosted: "false",
	}
	if !s.PathStyle {
		a.VirtualHosted = "true"
		a.Endpoint = bucketHost(s.Endpoint, s.URL)
	}
	if s.AllowHTTP {
		a.AllowHTTP = "true"
	}
	if s.Meter == "" {
		return a, nil
	}
	store, err := s.StoreURL()
	if err != nil {
		return aws{}, err
	}
	// A proxy sees what goes to it by http; of https it would see a tunnel. What is signed
	// is the host, not the scheme.
	a.Endpoint, a.AllowHTTP, a.ProxyURL = "http://"+store.Host, "true", "http://"+s.Meter
	return a, nil
}
