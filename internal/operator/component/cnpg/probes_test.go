package cnpg

import (
	"encoding/json"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
	cnpgac "github.com/pgstorage/pgstorage/internal/operator/extapply/cnpg/api/v1"
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
