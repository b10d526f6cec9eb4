package zerofs

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"strings"
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

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

// validateMeter requires loopback: every client of the meter can use the store.
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

// validateVariables rejects variables: ZeroFS expands them in nearly every value, and
// fails to start if one is unknown.
func (s Server) validateVariables() error {
	for _, v := range []string{strings.ReplaceAll(s.URL, NodeNameInURL, ""), s.Endpoint, s.Region, s.CacheDir, s.NBDSocket, s.NinePSocket} {
		if strings.Contains(v, "$") {
			return fmt.Errorf("%q holds a variable; only %s in the url is allowed", v, NodeNameInURL)
		}
	}
	return nil
}
