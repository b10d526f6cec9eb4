package cnpg

import (
	"encoding/json"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

func TestProbes(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   v1alpha1.InstanceProbes
		want string
	}{
		{"liveness alone", v1alpha1.InstanceProbes{Liveness: "5m"}, `{"startup":{"failureThreshold":360},"liveness":{"failureThreshold":30}}`},
		{"rounded up", v1alpha1.InstanceProbes{Liveness: "41s"}, `{"startup":{"failureThreshold":360},"liveness":{"failureThreshold":5}}`},
		{"startup alone", v1alpha1.InstanceProbes{Startup: "2h"}, `{"startup":{"failureThreshold":720},"liveness":{"failureThreshold":3}}`},
		{
			"a timeout below the period", v1alpha1.InstanceProbes{Timeout: "8s"},
			`{"startup":{"timeoutSeconds":8,"failureThreshold":360},"liveness":{"timeoutSeconds":8,"failureThreshold":3},"readiness":{"timeoutSeconds":8}}`,
		},
		{
			"attempts that last longer than the period", v1alpha1.InstanceProbes{Timeout: "1m", Liveness: "10m", Startup: "2h"},
			`{"startup":{"timeoutSeconds":60,"periodSeconds":60,"failureThreshold":120},"liveness":{"timeoutSeconds":60,"periodSeconds":60,"failureThreshold":10},"readiness":{"timeoutSeconds":60,"periodSeconds":60}}`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got, err := json.Marshal(probes(&tc.in))
			if err != nil {
				t.Fatal(err)
			}
			if string(got) != tc.want {
				t.Errorf("got %s\nwant %s", got, tc.want)
			}
		})
	}
}
