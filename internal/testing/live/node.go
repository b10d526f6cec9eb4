package live

import (
	"context"
	"errors"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// BootID of a node, which is another one after each boot.
func BootID(ctx context.Context, c client.Client, node string) (string, error) {
	n := &corev1.Node{}
	err := c.Get(ctx, client.ObjectKey{Name: node}, n)
	return n.Status.NodeInfo.BootID, err
}

// Rebooted returns an error until a node has registered with another boot ID.
func Rebooted(ctx context.Context, c client.Client, node, before string) error {
	now, err := BootID(ctx, c, node)
	if err == nil && now == before {
		err = errors.New("it has not registered again")
	}
	return err
}
