// Package spec defines the instructions of the manager to the runner, as JSON in a
// ConfigMap. It stands alone so that the manager needs no database driver.
package spec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	"github.com/pgstorage/pgstorage/internal/bench/fingerprint"
	"github.com/pgstorage/pgstorage/internal/bench/pgbench"
)

// Spec of a benchmark.
type Spec struct {
	// Cluster that is measured.
	Cluster string `json:"cluster"`
	// Durability that the cluster states; the runner proves it before and after
	// each run.
	Durability v1alpha1.DurabilityTier `json:"durability"`
	// Pgbench is the specification of the PgBenchmark, with its defaults.
	Pgbench v1alpha1.PgbenchSpec `json:"pgbench"`
	// ForeignKeys between pgbench's tables.
	ForeignKeys bool `json:"foreignKeys,omitempty"`
	// ScriptsDir holds the custom scripts, each under its key.
	ScriptsDir string `json:"scriptsDir,omitempty"`
	// Layers of the storage that are measured before; nil for none.
	Layers *Layers `json:"layers,omitempty"`
	// Space of the cluster's volumes; nil where their capacity is not known, and then
	// free space is not watched.
	Space *Space `json:"space,omitempty"`
	// Source is the cluster that Cluster follows, which has the tables; nil where Cluster
	// follows none.
	Source *Source `json:"source,omitempty"`
	// CPULimit that the cluster declares for each instance; nil without one.
	CPULimit *resource.Quantity `json:"cpuLimit,omitempty"`
	// Settings of the cluster that the manager knows and the server does not report.
	Settings fingerprint.Settings `json:"settings,omitempty"`
}

// Source is the cluster that the measured one follows. The tables are loaded there.
type Source struct {
	Cluster string `json:"cluster"`
	// Space of its volumes, as that of the measured cluster.
	Space *Space `json:"space,omitempty"`
}

// Variables of the runner's environment by which it connects to the source. The other
// variables of libpq are the same for both clusters. The Job sets them, because users who may
// write ConfigMaps must not direct the runner to another server.
const (
	EnvSourceHost     = "PGSTORAGE_SOURCE_HOST"
	EnvSourceRootCert = "PGSTORAGE_SOURCE_ROOTCERT"
)

// Defaults of the API, for a Spec that never passed an API server.
const (
	defaultScale    = 10
	defaultDuration = time.Minute
)

// Parse reads a Spec; a field it does not know is an error.
func Parse(raw []byte) (Spec, error) {
	var s Spec
	d := json.NewDecoder(bytes.NewReader(raw))
	d.DisallowUnknownFields()
	if err := d.Decode(&s); err != nil {
		return Spec{}, fmt.Errorf("specification of the benchmark: %w", err)
	}
	s.defaults()
	return s, s.validate()
}

func (s *Spec) defaults() {
	p := &s.Pgbench
	if p.Scale == 0 {
		p.Scale = defaultScale
	}
	if len(p.Clients) == 0 {
		p.Clients = []int32{1, 4}
	}
	if p.Script == "" && len(p.CustomScripts) == 0 {
		p.Script = v1alpha1.ScriptTPCB
	}
	p.Repeats = max(1, p.Repeats)
	p.MaxTries = max(1, p.MaxTries)
	if p.Protocol == "" {
		p.Protocol = v1alpha1.ProtocolSimple
	}
	if p.Integrity == "" {
		p.Integrity = v1alpha1.IntegrityFull
	}
	if s.Layers != nil {
		s.Layers.defaults()
	}
}

func (s Spec) validate() error {
	var errs []error
	switch s.Durability {
	case v1alpha1.DurabilityQuorum, v1alpha1.DurabilityLocal, v1alpha1.DurabilityAsync, v1alpha1.DurabilityEphemeral:
	case v1alpha1.DurabilityReadOnly:
		errs = append(errs, s.readsOnly())
	default:
		errs = append(errs, fmt.Errorf("durability must be Quorum, Local, Async, Ephemeral or ReadOnly, not %q", s.Durability))
	}
	if s.Source != nil && s.Durability != v1alpha1.DurabilityReadOnly {
		errs = append(errs, fmt.Errorf("durability of a cluster that follows %s must be ReadOnly, not %q", s.Source.Cluster, s.Durability))
	}
	if _, err := s.Scripts(); err != nil {
		errs = append(errs, err)
	}
	if _, err := Protocol(s.Pgbench.Protocol); err != nil {
		errs = append(errs, err)
	}
	errs = append(errs, wholeSeconds(s.Pgbench.Duration), wholeSeconds(s.Pgbench.WarmUp))
	if s.Layers != nil {
		errs = append(errs, s.Layers.validate())
	}
	for _, n := range s.Pgbench.Clients {
		if n < 1 {
			errs = append(errs, fmt.Errorf("clients must be at least 1, not %d", n))
		}
	}
	return errors.Join(errs...)
}

// readsOnly says why a cluster that takes no writes cannot be measured in this way.
func (s Spec) readsOnly() error {
	switch {
	case s.Source == nil:
		return errors.New("durability ReadOnly needs the source that the cluster follows")
	case s.Builtin() != pgbench.SelectOnly:
		return errors.New("a cluster that follows another one takes only the script SelectOnly")
	case s.Layers != nil || s.Pgbench.ColdCache:
		return errors.New("a cluster that follows another one takes neither layers nor coldCache")
	}
	return nil
}

func wholeSeconds(s string) error {
	d, err := time.ParseDuration(s)
	if s != "" && (err != nil || d < 0 || d%time.Second != 0) {
		return fmt.Errorf("%q is not a duration of whole seconds", s)
	}
	return nil
}

// DeclaredCPU is the CPULimit in processors; nil without one.
func (s Spec) DeclaredCPU() *float64 {
	if s.CPULimit == nil {
		return nil
	}
	processors := s.CPULimit.AsApproximateFloat64()
	return &processors
}

// Duration of each run; zero where it is by transactions.
func (s Spec) Duration() time.Duration {
	if s.Pgbench.Transactions != nil {
		return 0
	}
	if s.Pgbench.Duration == "" {
		return defaultDuration
	}
	return duration(s.Pgbench.Duration)
}

// Transactions of each client in each run; zero where it is by duration.
func (s Spec) Transactions() int64 {
	if s.Pgbench.Transactions == nil {
		return 0
	}
	return int64(*s.Pgbench.Transactions)
}

// WarmUp before the first run.
func (s Spec) WarmUp() time.Duration { return duration(s.Pgbench.WarmUp) }

func duration(s string) time.Duration {
	// validate refused what cannot be parsed.
	d, _ := time.ParseDuration(s)
	return d
}

// Jobs of a run: threads, never more than clients.
func (s Spec) Jobs(clients, processors int) int {
	jobs := processors
	if s.Pgbench.Jobs != nil {
		jobs = int(*s.Pgbench.Jobs)
	}
	return max(1, min(jobs, clients))
}

var builtins = map[v1alpha1.Script]string{
	v1alpha1.ScriptTPCB:         pgbench.TPCB,
	v1alpha1.ScriptSimpleUpdate: pgbench.SimpleUpdate,
	v1alpha1.ScriptSelectOnly:   pgbench.SelectOnly,
}

// Builtin is the built-in script; empty with custom ones.
func (s Spec) Builtin() string {
	if len(s.Pgbench.CustomScripts) > 0 {
		return ""
	}
	return builtins[s.Pgbench.Script]
}

// Scripts of every run.
func (s Spec) Scripts() ([]pgbench.WeightedScript, error) {
	if len(s.Pgbench.CustomScripts) == 0 {
		if s.Builtin() == "" {
			return nil, fmt.Errorf("script must be TPCB, SimpleUpdate or SelectOnly, not %q", s.Pgbench.Script)
		}
		return []pgbench.WeightedScript{{Builtin: s.Builtin()}}, nil
	}
	var scripts []pgbench.WeightedScript
	for _, c := range s.Pgbench.CustomScripts {
		if c.Key == "" || c.Key != filepath.Base(c.Key) || c.Key == ".." || c.Key == "." {
			return nil, fmt.Errorf("%q is not a key of a ConfigMap", c.Key)
		}
		scripts = append(scripts, pgbench.WeightedScript{File: filepath.Join(s.ScriptsDir, c.Key), Weight: int(c.Weight)})
	}
	return scripts, nil
}

// Protocol in pgbench's words.
func Protocol(p v1alpha1.Protocol) (pgbench.Protocol, error) {
	switch p {
	case v1alpha1.ProtocolSimple:
		return pgbench.Simple, nil
	case v1alpha1.ProtocolExtended:
		return pgbench.Extended, nil
	case v1alpha1.ProtocolPrepared:
		return pgbench.Prepared, nil
	}
	return "", fmt.Errorf("protocol must be Simple, Extended or Prepared, not %q", p)
}
