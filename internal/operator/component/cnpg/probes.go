package cnpg

import (
	"time"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	cnpgac "github.com/pgstorage/pgstorage/internal/operator/extapply/cnpg/api/v1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
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

// DeclaredProbes are what CloudNativePG makes of a Cluster's fields (ensureProbes in its
// pkg/specs/pods.go). Zero is what no field of the Cluster decides.
func DeclaredProbes(c *cnpgv1.Cluster) observed.Probes {
	var out observed.Probes
	if p := c.Spec.Probes; p != nil {
		if p.Startup != nil {
			out.Startup = declared(p.Startup.Probe)
		}
		if p.Readiness != nil {
			out.Readiness = declared(p.Readiness.Probe)
		}
		if p.Liveness != nil {
			out.Liveness = declared(p.Liveness.Probe)
		}
	}
	count(&out.Startup, c.Spec.MaxStartDelay)
	if limit := c.Spec.LivenessProbeTimeout; limit != nil {
		count(&out.Liveness, *limit)
	}
	return out
}

func declared(p cnpgv1.Probe) observed.Probe {
	return observed.Probe{Timeout: p.TimeoutSeconds, Period: p.PeriodSeconds, Attempts: p.FailureThreshold}
}

// count the attempts that fill a limit, in seconds, where no number of them is declared.
func count(p *observed.Probe, limit int32) {
	if p.Attempts != 0 || limit == 0 {
		return
	}
	period := p.Period
	if period == 0 {
		period = seconds(probePeriod)
	}
	p.Attempts = max(1, (limit+period-1)/period)
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
