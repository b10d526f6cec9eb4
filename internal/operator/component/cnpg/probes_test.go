package cnpg

import (
	"encoding/json"
	"testing"

	cnpgv1 "github.com/cloudnative-pg/cloudnative-pg/api/v1"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	cnpgac "github.com/pgstorage/pgstorage/internal/operator/extapply/cnpg/api/v1"
	"github.com/pgstorage/pgstorage/internal/operator/observed"
)

func TestProbes(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   v1alpha1.InstanceProbes
		want string
	}{
		{"liveness alone", v1alpha1.InstanceProbes{Liveness: "5m"}, `{"livenessProbeTimeout":300}`},
		{"startup alone", v1alpha1.InstanceProbes{Startup: "2h"}, `{"startDelay":7200,"livenessProbeTimeout":30}`},
		{
			"a timeout below the period", v1alpha1.InstanceProbes{Timeout: "8s"},
			`{"livenessProbeTimeout":30,"probes":{"startup":{"timeoutSeconds":8},"liveness":{"timeoutSeconds":8},"readiness":{"timeoutSeconds":8}}}`,
		},
		{
			"attempts that last longer than the period", v1alpha1.InstanceProbes{Timeout: "1m", Liveness: "10m", Startup: "2h"},
			`{"startDelay":7200,"livenessProbeTimeout":600,"probes":{"startup":{"timeoutSeconds":60,"periodSeconds":60},"liveness":{"timeoutSeconds":60,"periodSeconds":60},"readiness":{"timeoutSeconds":60,"periodSeconds":60}}}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			spec := cnpgac.ClusterSpec()
			extend(spec, &tc.in)
			got, err := json.Marshal(spec)
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tc.want {
				t.Errorf("got %s\nwant %s", got, tc.want)
			}
		})
	}
}

func TestDeclaredProbes(t *testing.T) {
	none := observed.Probe{}
	for _, tc := range []struct {
		name, spec string
		want       observed.Probes
	}{
		{"none", `{}`, observed.Probes{}},
		{"a limit counts attempts of the default period", `{"livenessProbeTimeout":300,"startDelay":3601}`, observed.Probes{Startup: observed.Probe{Attempts: 361}, Readiness: none, Liveness: observed.Probe{Attempts: 30}}},
		{"of a period of its own", `{"livenessProbeTimeout":100,"probes":{"liveness":{"timeoutSeconds":30,"periodSeconds":30}}}`, observed.Probes{Liveness: observed.Probe{Timeout: 30, Period: 30, Attempts: 4}}},
		{"at least one", `{"livenessProbeTimeout":5}`, observed.Probes{Liveness: observed.Probe{Attempts: 1}}},
		{
			"a number of attempts has priority", `{"startDelay":600,"livenessProbeTimeout":300,"probes":{"startup":{"failureThreshold":7},"liveness":{"failureThreshold":20},"readiness":{"timeoutSeconds":8}}}`,
			observed.Probes{Startup: observed.Probe{Attempts: 7}, Readiness: observed.Probe{Timeout: 8}, Liveness: observed.Probe{Attempts: 20}},
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := &cnpgv1.Cluster{}
			if err := json.Unmarshal([]byte(tc.spec), &c.Spec); err != nil {
				t.Fatal(err)
			}
			if got := DeclaredProbes(c); got != tc.want {
				t.Errorf("got %+v\nwant %+v", got, tc.want)
			}
		})
	}
}
