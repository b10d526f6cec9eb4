package reconcile

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// atRest counts writes while no user changes anything.
func (s *scene) atRest(ctx context.Context, f *figures) error {
	var err error
	f.atRest, err = s.phase(ctx, "rest", s.watchRest)
	return err
}

func (s *scene) watchRest(ctx context.Context) (time.Duration, error) {
	progress("at rest for %s", s.rest)
	timer := time.NewTimer(s.rest)
	defer timer.Stop()
	select {
	case <-timer.C:
		return s.rest, nil
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
}

// withForeign measures again beside objects of other people.
func (s *scene) withForeign(ctx context.Context, f *figures) error {
	progress("making %d foreign ConfigMaps, Secrets and Pods", s.foreign)
	var err error
	f.withForeign, err = s.phase(ctx, "rest-foreign", func(ctx context.Context) (time.Duration, error) {
		if err := s.makeForeign(ctx); err != nil {
			return 0, err
		}
		return s.watchRest(ctx)
	})
	return err
}

func (s *scene) makeForeign(ctx context.Context) error {
	text := map[string]string{"text": fmt.Sprintf("%01024d", 0)}
	for i := range s.foreign {
		at := metav1.ObjectMeta{Namespace: namespace, Name: fmt.Sprintf("foreign-%05d", i)}
		for _, o := range []client.Object{
			&corev1.ConfigMap{ObjectMeta: at, Data: text},
			&corev1.Secret{ObjectMeta: at, StringData: text},
			&corev1.Pod{ObjectMeta: at, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "none"}}}},
		} {
			if err := s.c.Create(ctx, o); err != nil {
				return fmt.Errorf("create foreign object: %w", err)
			}
		}
	}
	return nil
}
