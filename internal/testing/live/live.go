// Package live has what the tests on a real cluster share: the operator's installation by
// Helm, commands, and how to read conditions and pods.
package live

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/pgstorage/pgstorage/internal/kube/apply"
	"github.com/pgstorage/pgstorage/internal/kube/naming"
	"github.com/pgstorage/pgstorage/internal/kube/scheme"
	"github.com/pgstorage/pgstorage/internal/testing/repository"
)

// OperatorNamespace is where Helm installs the operator.
const OperatorNamespace = "pgstorage-system"

// Needs returns an error where a variable of the environment is not set, and names the make
// target that sets it.
func Needs(target string, variables ...string) error {
	for _, name := range variables {
		if os.Getenv(name) == "" {
			return fmt.Errorf("%s must be set; run make %s", name, target)
		}
	}
	return nil
}

// Client returns a client of the current cluster. It returns an error where a variable of
// the environment is not set, and names the make target that sets it.
func Client(target string, variables ...string) (client.Client, error) {
	if err := Needs(target, variables...); err != nil {
		return nil, err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return nil, err
	}
	return apply.NewClient(config, client.Options{Scheme: scheme.New()})
}

// Helm installs or upgrades the operator with the image under test and more values. The
// timeout bounds Helm's own wait, and a minute more the command.
func Helm(timeout time.Duration, values ...string) error {
	image, tag, _ := strings.Cut(os.Getenv("PGSTORAGE_IMAGE"), ":")
	args := []string{
		"upgrade", "--install", "pgstorage", filepath.Join(repository.Root(), "charts", "pgstorage"),
		"--namespace", OperatorNamespace, "--create-namespace", "--wait", "--timeout", timeout.String(),
		// A hash of digits alone would be a number.
		"--set", "image.repository=" + image, "--set-string", "image.tag=" + tag,
		"--set", "postgres.imageRepository=" + os.Getenv("PGSTORAGE_POSTGRES_REPOSITORY"),
	}
	for _, v := range values {
		args = append(args, "--set", v)
	}
	_, err := Command(context.Background(), timeout+time.Minute, os.Getenv("HELM"), args...)
	return err
}

// Command returns what a program prints, trimmed, and its errors' text where it fails.
func Command(ctx context.Context, timeout time.Duration, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, name, args...) //nolint:gosec // G204: a command of a test
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Run(); err != nil {
		return stdout.String(), fmt.Errorf("%s %s: %w: %s", filepath.Base(name), strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// AllTrue returns an error for the first of these conditions that is not True for the
// generation.
func AllTrue(conditions []metav1.Condition, generation int64, kinds ...string) error {
	for _, kind := range kinds {
		got := meta.FindStatusCondition(conditions, kind)
		if got == nil {
			return fmt.Errorf("%s is not set", kind)
		}
		if got.ObservedGeneration != generation {
			return fmt.Errorf("%s is of generation %d, want %d", kind, got.ObservedGeneration, generation)
		}
		if got.Status != metav1.ConditionTrue {
			return fmt.Errorf("%s is %s (%s): %s", kind, got.Status, got.Reason, got.Message)
		}
	}
	return nil
}

// Instances returns the UID and the number of restarts of each instance's pod, by the name
// of the pod.
func Instances(ctx context.Context, c client.Client, namespace, cluster string) (map[string]string, error) {
	pods := &corev1.PodList{}
	if err := c.List(ctx, pods, client.InNamespace(namespace), client.MatchingLabels{naming.LabelCNPGCluster: cluster, naming.LabelCNPGPodRole: "instance"}); err != nil {
		return nil, err
	}
	instances := map[string]string{}
	for _, p := range pods.Items {
		restarts := int32(0)
		for _, s := range p.Status.ContainerStatuses {
			restarts += s.RestartCount
		}
		instances[p.Name] = fmt.Sprintf("%s restarted %d times", p.UID, restarts)
	}
	return instances, nil
}

// CNPGVersion is the tag of the image that CloudNativePG's operator runs, as 1.30.0.
func CNPGVersion(ctx context.Context) (string, error) {
	image, err := Command(ctx, time.Minute, "kubectl", "-n", "cnpg-system", "get", "deployment/cnpg-controller-manager", "-o", "jsonpath={.spec.template.spec.containers[0].image}")
	return image[strings.LastIndex(image, ":")+1:], err
}
