package statemetrics

import (
	"cmp"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
)

// InTurns returns at most limit of the objects: the first of each namespace, then the second of
// each, and so on. So one tenant does not displace the objects of another. The function before
// orders the objects of a namespace, and names order equal ones. InTurns sorts all, and the result
// shares its memory.
func InTurns[T client.Object](all []T, limit int, before func(a, b T) int) []T {
	slices.SortFunc(all, func(a, b T) int {
		return cmp.Or(cmp.Compare(a.GetNamespace(), b.GetNamespace()), before(a, b), cmp.Compare(a.GetName(), b.GetName()))
	})
	if len(all) <= limit {
		return all
	}
	turns := turnsOf(all)
	sizes := make([]int, len(all))
	for _, turn := range turns {
		sizes[turn]++
	}
	last, room := 0, limit // there is room for a part of the last turn
	for ; sizes[last] <= room; last++ {
		room -= sizes[last]
	}
	kept := all[:0]
	for i, object := range all {
		switch {
		case turns[i] < last:
			kept = append(kept, object)
		case turns[i] == last && room > 0:
			kept, room = append(kept, object), room-1
		}
	}
	return kept
}

// turnsOf numbers the objects of each namespace from 0. The objects are sorted by namespace.
func turnsOf[T client.Object](sorted []T) []int {
	turns := make([]int, len(sorted))
	for i := 1; i < len(sorted); i++ {
		if sorted[i].GetNamespace() == sorted[i-1].GetNamespace() {
			turns[i] = turns[i-1] + 1
		}
	}
	return turns
}

// AsNamed has InTurns order the objects of a namespace by their names.
func AsNamed[T client.Object](T, T) int { return 0 }
