package cnpg

import (
	"time"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	cnpgac "github.com/pgstorage/pgstorage/internal/operator/extapply/cnpg/api/v1"
)

const (
	// probePeriod is CloudNativePG's, of every probe.
	probePeriod = 10 * time.Second
	// These are CloudNativePG's too: livenessProbeTimeout and startDelay.
	defaultLiveness = 30 * time.Second
	defaultStartup  = time.Hour
)

// probes of instances with the time that a profile gives them. Kubelet counts failed attempts,
// so each limit becomes the number of attempts that takes as long.
func probes(p *v1alpha1.InstanceProbes) *cnpgac.ProbesConfigurationApplyConfiguration {
	timeout := length(p.Timeout, 0)
	period := max(probePeriod, timeout)
	probe := func(limit time.Duration) cnpgac.ProbeApplyConfiguration {
		var out cnpgac.ProbeApplyConfiguration
		if timeout > 0 {
			out.WithTimeoutSeconds(times(timeout, time.Second))
		}
		if period > probePeriod {
			out.WithPeriodSeconds(times(period, time.Second))
		}
		if limit > 0 {
			out.WithFailureThreshold(times(limit, period))
		}
		return out
	}
	startup, readiness, liveness := cnpgac.ProbeWithStrategy(), cnpgac.ProbeWithStrategy(), cnpgac.LivenessProbe()
	startup.ProbeApplyConfiguration = probe(length(p.Startup, defaultStartup))
	liveness.ProbeApplyConfiguration = probe(length(p.Liveness, defaultLiveness))
	out := cnpgac.ProbesConfiguration().WithStartup(startup).WithLiveness(liveness)
	if timeout > 0 {
		readiness.ProbeApplyConfiguration = probe(0)
		out.WithReadiness(readiness)
	}
	return out
}

// times that a part is needed for a length of time, which is a day at most.
func times(length, part time.Duration) int32 {
	return int32((length + part - 1) / part) //nolint:gosec // G115: 86400 at most
}

// length of time that a field of the API has, whose form the API server has checked.
func length(text string, otherwise time.Duration) time.Duration {
	if d, err := time.ParseDuration(text); err == nil {
		return d
	}
	return otherwise
}
