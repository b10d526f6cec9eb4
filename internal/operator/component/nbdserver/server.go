// Package nbdserver builds the ZeroFS servers of an S3NBD profile: a DaemonSet for each
// store, and the ConfigMap with their configuration. A pod of the DaemonSet serves the
// store's prefix of its node. Builders are pure.
package nbdserver

import (
	"fmt"
	"strings"
	"time"

	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
	"github.com/pgstorage/pgstorage/internal/zerofs"
)

// Where things are in a server's pod.
const (
	configDir  = "/etc/zerofs"
	configFile = "config.toml"
	socketDir  = "/run/zerofs"
	cacheDir   = "/var/cache/zerofs"
	binDir     = "/pgstorage"
)

// Ports of a server's pod, which has a network of its own.
const (
	// MetricsPort is the supervisor's. /metrics describes the relay and the store, and
	// /readyz reports whether requests reach ZeroFS.
	MetricsPort = 9091
	// MetricsPortName and ZeroFSPortName are what a PodMonitor selects.
	MetricsPortName = "metrics"
	// ZeroFSPort is of ZeroFS' own metrics, for families that have them.
	ZeroFSPort     = 9092
	ZeroFSPortName = "zerofs"

	// meterAddress is within the pod: what ZeroFS asks of its store goes through the
	// supervisor, which counts it.
	meterAddress = "127.0.0.1:9099"
)

// Server of one store, on each of Nodes.
type Server struct {
	Profile *v1alpha1.PgStorageProfile
	Store   v1alpha1.S3Store
	// Nodes that have a pod: those with a pool of the profile.
	Nodes []string
	// Operator's namespace, and its image with the supervisor.
	Operator observed.Operator
}

// URL of a store's prefix for one node.
func URL(s v1alpha1.S3Store, profile, node string) string {
	return fmt.Sprintf("s3://%s/%s", s.Bucket, naming.NodePrefix(s.Prefix, profile, node))
}

func (s Server) name() string { return naming.Server(s.Profile.Name, s.Store.Name) }

// labels of every object, and of the pods.
func (s Server) labels() map[string]string {
	labels := naming.ProfileLabels(s.Profile.Name, string(s.Profile.UID))
	labels[naming.LabelStore] = s.Store.Name
	return labels
}

// program that a server runs. Keys and password are variables that come from the
// environment, so nothing here is secret.
func (s Server) program() (zerofs.Server, error) {
	z := s.Profile.Spec.S3NBD.ZeroFS
	interval, err := time.ParseDuration(z.FlushInterval)
	if err != nil {
		return zerofs.Server{}, fmt.Errorf("spec.s3NBD.zeroFS.flushInterval: %w", err)
	}
	return zerofs.Server{
		Family:            z.Family,
		URL:               URL(s.Store, s.Profile.Name, zerofs.NodeNameInURL), // one file for all nodes
		Endpoint:          s.endpoint(),
		Region:            s.Store.Region,
		PathStyle:         s.pathStyle(),
		AllowHTTP:         s.Store.AllowHTTP != nil && *s.Store.AllowHTTP,
		CacheDir:          cacheDir,
		CacheSize:         z.Cache.Size.Value(),
		CacheMemory:       z.Cache.Memory.Value(),
		FlushInterval:     interval,
		NBDSocket:         socketDir + "/" + zerofs.UpstreamSocket, // the relay has the kernel's
		NinePSocket:       socketDir + "/" + zerofs.NinePSocket,
		Meter:             meterAddress,
		PrometheusAddress: s.metricsAddress(),
	}, nil
}

// config of ZeroFS.
func (s Server) config() (string, error) {
	program, err := s.program()
	if err != nil {
		return "", err
	}
	out, err := zerofs.Config(program)
	if err != nil {
		return "", fmt.Errorf("configuration of ZeroFS for store %s: %w", s.Store.Name, err)
	}
	return string(out), nil
}

func (s Server) pathStyle() bool { return s.Store.PathStyle == nil || *s.Store.PathStyle }

func (s Server) endpoint() string { return strings.TrimSuffix(s.Store.Endpoint, "/") }

// metricsAddress of ZeroFS' own metrics, for families that have them.
func (s Server) metricsAddress() string {
	if !zerofs.HasMetrics(s.Profile.Spec.S3NBD.ZeroFS.Family) {
		return ""
	}
	return fmt.Sprintf("0.0.0.0:%d", ZeroFSPort)
}

// Revision of what a server's pod is made with, the supervisor included: a pod with
// another one was made before the last change.
func (s Server) Revision() (string, error) {
	config, err := s.config()
	if err != nil {
		return "", err
	}
	z := s.Profile.Spec.S3NBD.ZeroFS
	return naming.Hash([]string{
		config, s.Operator.Image, z.Image, z.PriorityClassName, z.Resources.CPU.String(), z.Resources.Memory.String(), z.Cache.HostPath,
		s.Store.CredentialsSecret, s.Store.EncryptionSecret,
	})[:16], nil
}

// ConfigMap with the configuration.
func (s Server) ConfigMap() (*corev1ac.ConfigMapApplyConfiguration, error) {
	config, err := s.config()
	if err != nil {
		return nil, err
	}
	return corev1ac.ConfigMap(s.name(), s.Operator.Namespace).
		WithLabels(s.labels()).
		WithData(map[string]string{configFile: config}), nil
}
