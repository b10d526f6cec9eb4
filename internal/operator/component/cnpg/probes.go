package cnpg

import (
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	cnpgac "github.com/pgstorage/pgstorage/internal/operator/extapply/cnpg/api/v1"
)

const (
	// probePeriod is CloudNativePG's, of every probe.
	probePeriod = 10 * time.Second
	// defaultLiveness is what CloudNativePG documents. It sets no limit for other periods.
	defaultLiveness = 30 * time.Second
)

// extend the probes of instances by the time that a profile gives them. The limits are
// CloudNativePG's own fields, from which it counts attempts, so what an author sets in
// spec.cnpg.spec takes their place.
func extend(spec *cnpgac.ClusterSpecApplyConfiguration, p *v1alpha1.InstanceProbes) {
	spec.WithLivenessProbeTimeout(seconds(length(p.Liveness, defaultLiveness)))
	if startup := length(p.Startup, 0); startup > 0 {
		spec.WithMaxStartDelay(seconds(startup))
	}
	timeout := length(p.Timeout, 0)
	if timeout == 0 {
		return
	}
	attempt := cnpgac.Probe().WithTimeoutSeconds(seconds(timeout))
	if timeout > probePeriod {
		attempt.WithPeriodSeconds(seconds(timeout))
	}
	spec.WithProbes(&cnpgac.ProbesConfigurationApplyConfiguration{
		Startup:   &cnpgac.ProbeWithStrategyApplyConfiguration{ProbeApplyConfiguration: *attempt},
		Readiness: &cnpgac.ProbeWithStrategyApplyConfiguration{ProbeApplyConfiguration: *attempt},
		Liveness:  &cnpgac.LivenessProbeApplyConfiguration{ProbeApplyConfiguration: *attempt},
	})
}

// seconds of a length of time, which is a day at most.
func seconds(d time.Duration) int32 { return int32(d / time.Second) } //nolint:gosec // G115: 86400 at most

// length of time that a field of the API has, whose form the API server has checked.
func length(text string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(text); err == nil {
		return d
	}
	return otherwise
}
