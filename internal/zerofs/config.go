package zerofs

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

// The variables of the environment that ZeroFS expands in its configuration, so that
// neither a secret nor a node's name is in the file.
const (
	EnvAccessKeyID     = "AWS_ACCESS_KEY_ID"
	EnvSecretAccessKey = "AWS_SECRET_ACCESS_KEY" //nolint:gosec // the name of a variable
	EnvPassword        = "ZEROFS_PASSWORD"
	EnvNodeName        = "NODE_NAME"
)

// NodeNameInURL stands in Server.URL for the name of the node that the server is on.
const NodeNameInURL = "${" + EnvNodeName + "}"

// MinFlushInterval is the least that ZeroFS accepts; it silently rounds up to it
// (LsmConfig::MIN_FLUSH_INTERVAL_SECS).
const MinFlushInterval = 5 * time.Second

// l0Unbounded is more tables at level 0 than there ever are, for 0.19. Where level 0 is
// full, its SlateDB 0.9.2 answers a flush with success and stores nothing
// (flush_imm_memtables_to_l0 in mem_table_flush.rs): at ZeroFS' own 16, flushed writes
// are lost with a server that is killed, and with one that is told to end. SlateDB's
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
	// FlushInterval is how often what nobody asked to flush is written to the bucket:
	// whole seconds, at least MinFlushInterval.
	FlushInterval time.Duration
	// NBDSocket and NinePSocket are the absolute paths of the Unix sockets, up to 107
	// bytes each. Nothing else listens.
	NBDSocket, NinePSocket string
	// Meter is IP:port, on loopback, of the proxy that all requests to the store go
	// through and that speaks TLS in ZeroFS' stead (package meter). Empty: none.
	Meter string
	// PrometheusAddress is IP:port of the metrics. Empty: none, as must be with 0.19,
	// which has none (HasMetrics).
	PrometheusAddress string
}

// HasMetrics says whether programs of a family can serve metrics.
func HasMetrics(f v1alpha1.ZeroFSFamily) bool { return f == v1alpha1.ZeroFS2 }

// The file. ZeroFS refuses unknown keys, so each is one that the family knows
// (zerofs/src/config.rs). What is not here keeps its default, which for a database
// must be so: ignore_fsync would make flushes lies, and sync_writes would flush at
// every write what ZFS orders by flushes. [aws] is free: names are those of
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

// Config is the file for zerofs run -c. The same server gives the same bytes. It
// fails if a field is outside its bounds, with all that is wrong.
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

// StoreURL is where the server's requests go: scheme and host, which has the bucket
// where the path of requests has not, and a port that is not the scheme's own. It fails
// if endpoint or bucket is none.
func (s Server) StoreURL() (*url.URL, error) {
	if err := s.validateEndpoint(); err != nil {
		return nil, err
	}
	at := cmp.Or(s.Endpoint, AmazonEndpoint(s.Region))
	if !s.PathStyle {
		at = bucketHost(at, s.URL)
	}
	u, err := url.Parse(at)
	if err != nil {
		return nil, fmt.Errorf("store: %w", err)
	}
	if port := u.Port(); port == "" || port == ports[u.Scheme] {
		u.Host = strings.TrimSuffix(u.Host, ":"+port)
	}
	return u, nil
}

// ports that URLs of a scheme need not name.
var ports = map[string]string{"http": "80", "https": "443"}

// AmazonEndpoint of S3 in a region, without a bucket.
func AmazonEndpoint(region string) string { return "https://s3." + region + "." + amazonDomain(region) }

// amazonDomain of a region's endpoints: that of its partition (partitions.json of
// aws-sdk-go-v2). Of isolated partitions the endpoint must be declared.
func amazonDomain(region string) string {
	switch {
	case strings.HasPrefix(region, "cn-"):
		return "amazonaws.com.cn"
	case strings.HasPrefix(region, "eusc-"):
		return "amazonaws.eu"
	}
	return "amazonaws.com"
}

// bucketHost is the endpoint with the bucket in its host, as object_store wants it
// where the bucket is not in the path (AmazonS3Builder,
// with_virtual_hosted_style_request). Without an endpoint it does so by itself.
func bucketHost(endpoint, at string) string {
	scheme, host, found := strings.Cut(endpoint, "://")
	if !found {
		return ""
	}
	bucket, _, _ := strings.Cut(strings.TrimPrefix(at, "s3://"), "/")
	return scheme + "://" + bucket + "." + host
}

func (s Server) validate() error {
	var wrong []error
	refuse := func(is bool, format string, args ...any) {
		if is {
			wrong = append(wrong, fmt.Errorf(format, args...))
		}
	}
	refuse(s.Family != v1alpha1.ZeroFS019 && s.Family != v1alpha1.ZeroFS2, "family %q is not known", s.Family)
	refuse(!strings.HasPrefix(s.URL, "s3://") || strings.Count(s.URL, "/") < 3 || strings.HasSuffix(s.URL, "/"), "url %q is not s3://bucket/prefix", s.URL)
	refuse(s.Region == "", "region is empty")
	refuse(s.CacheSize <= 0 || s.CacheMemory <= 0, "cache of %d bytes on disk and %d in memory: both must be above 0", s.CacheSize, s.CacheMemory)
	refuse(s.FlushInterval < MinFlushInterval || s.FlushInterval%time.Second != 0, "flush interval %s is not whole seconds of at least %s", s.FlushInterval, MinFlushInterval)
	for _, p := range []string{s.CacheDir, s.NBDSocket, s.NinePSocket} {
		refuse(!path.IsAbs(p), "path %q is not absolute", p)
	}
	for _, p := range []string{s.NBDSocket, s.NinePSocket} {
		refuse(len(p) > maxSocketPath, "socket %q is longer than %d bytes", p, maxSocketPath)
	}
	wrong = append(wrong, s.validateEndpoint(), s.validateMeter(), s.validateMetrics(), s.validateVariables())
	return errors.Join(wrong...)
}

func (s Server) validateEndpoint() error {
	if s.Endpoint == "" {
		return nil
	}
	u, err := url.Parse(s.Endpoint)
	if err != nil || u.Host == "" || u.Path != "" || u.RawQuery != "" || u.User != nil {
		return fmt.Errorf("endpoint %q is not scheme and host", s.Endpoint)
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !s.AllowHTTP) {
		return fmt.Errorf("endpoint %q is not https, and http is not allowed", s.Endpoint)
	}
	return nil
}

// validateMeter, which whoever reaches it could use the store through.
func (s Server) validateMeter() error {
	if s.Meter == "" {
		return nil
	}
	at, err := netip.ParseAddrPort(s.Meter)
	if err != nil {
		return fmt.Errorf("meter: %w", err)
	}
	if !at.Addr().IsLoopback() || at.Port() == 0 {
		return fmt.Errorf("meter %q is not a port on loopback", s.Meter)
	}
	return nil
}

func (s Server) validateMetrics() error {
	if s.PrometheusAddress == "" {
		return nil
	}
	if !HasMetrics(s.Family) {
		return fmt.Errorf("metrics at %q: ZeroFS %s has none", s.PrometheusAddress, s.Family)
	}
	if _, err := netip.ParseAddrPort(s.PrometheusAddress); err != nil {
		return fmt.Errorf("metrics: %w", err)
	}
	return nil
}

// validateVariables, because ZeroFS expands them in nearly every value, and fails to
// start where one is unknown.
func (s Server) validateVariables() error {
	for _, v := range []string{strings.ReplaceAll(s.URL, NodeNameInURL, ""), s.Endpoint, s.Region, s.CacheDir, s.NBDSocket, s.NinePSocket} {
		if strings.Contains(v, "$") {
			return fmt.Errorf("%q holds a variable; only %s in the url is allowed", v, NodeNameInURL)
		}
	}
	return nil
}
