package main

import (
	"flag"
	"maps"
	"strings"
	"testing"

	"github.com/pgstorage/pgstorage/api/v1alpha1"
)

var required = []string{"--bench-image=a", "--agent-image=a", "--namespace=n"}

// Each feature is off until an argument enables it, together with others or apart from
// them. The chart has an argument of its own for one of them.
func TestFeatureGates(t *testing.T) {
	for name, tc := range map[string]struct {
		args                                        []string
		s3NBD, cephRBD, matrixOwns, pools, branches bool
	}{
		"none":     {nil, false, false, false, false, false},
		"one":      {[]string{"--feature-gates=MatrixClusters=true"}, false, false, true, false, false},
		"together": {[]string{"--feature-gates=S3NBD=true,CephRBD=true,ReadPools=true,Branches=true"}, true, true, false, true, true},
		"apart":    {[]string{"--feature-gates=MatrixClusters=true", "--feature-gates=S3NBD=true"}, true, false, true, false, false},
	} {
		s, err := flags(flag.NewFlagSet(name, flag.ContinueOnError), append(required, tc.args...))
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if o := s.controllers; o.Enabled[v1alpha1.ProfileTypeS3NBD] != tc.s3NBD || o.Enabled[v1alpha1.ProfileTypeCephRBD] != tc.cephRBD || o.MatrixClusters != tc.matrixOwns || o.Config.ReadPools != tc.pools || o.Config.Branches != tc.branches {
			t.Errorf("%s: got enabled kinds %v, MatrixClusters %v, ReadPools %v, Branches %v; want S3NBD %v, CephRBD %v, MatrixClusters %v, ReadPools %v, Branches %v", name, o.Enabled, o.MatrixClusters, o.Config.ReadPools, o.Config.Branches, tc.s3NBD, tc.cephRBD, tc.matrixOwns, tc.pools, tc.branches)
		}
	}
}

func TestFlagsRefuse(t *testing.T) {
	for want, args := range map[string][]string{
		"--bench-image is required":                           {"--agent-image=a", "--namespace=n"},
		"unrecognized feature gate: Ceph":                     append(required, "--feature-gates=Ceph=true"),
		"managed-by is set by the operator itself":            append(required, "--pod-monitor-labels=app.kubernetes.io/managed-by=me"),
		"pgstorage.dev/cluster is set by the operator itself": append(required, "--pod-monitor-labels=pgstorage.dev/cluster=shop"),
		"invalid selector":                                    append(required, "--pod-monitor-labels=release"),
		`unknown platform "Talos"`:                            append(required, "--platform=Talos"),
	} {
		set := flag.NewFlagSet("manager", flag.ContinueOnError)
		set.SetOutput(&strings.Builder{})
		if _, err := flags(set, args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v, want %q", args, err, want)
		}
	}
}

func TestPodMonitorLabels(t *testing.T) {
	for text, want := range map[string]map[string]string{
		"": nil, "release=prometheus,team=db": {"release": "prometheus", "team": "db"},
		"app.kubernetes.io/part-of=monitoring": {"app.kubernetes.io/part-of": "monitoring"},
	} {
		s, err := flags(flag.NewFlagSet("labels", flag.ContinueOnError), append(required, "--pod-monitor-labels="+text))
		if err != nil || !maps.Equal(s.controllers.Config.PodMonitorLabels, want) {
			t.Errorf("%q: %v, %v", text, s.controllers.Config.PodMonitorLabels, err)
		}
	}
}

func TestOnlyOpenShiftGivesPodsTheirUsers(t *testing.T) {
	for want, args := range map[bool][][]string{false: {nil, {"--platform=Kubernetes"}}, true: {{"--platform=OpenShift"}}} {
		for _, given := range args {
			s, err := flags(flag.NewFlagSet("manager", flag.ContinueOnError), append(required, given...))
			if err != nil || s.controllers.Config.PlatformUsers != want {
				t.Errorf("%q: got %v, %v; want %v", given, s.controllers.Config.PlatformUsers, err, want)
			}
		}
	}
}
