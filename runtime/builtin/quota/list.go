package quota

import (
	"maps"
	"slices"
	"strings"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// add adds quantities to a list, in place.
func add(to, more core.ResourceList) {
	for name, quantity := range more {
		sum := to[name].DeepCopy()
		if sum.IsZero() {
			sum.Format = quantity.Format
		}
		sum.Add(quantity)
		to[name] = sum
	}
}

// subtract subtracts quantities from a list, in place. Nothing becomes negative.
func subtract(from, less core.ResourceList) {
	for name, quantity := range less {
		left, has := from[name]
		if !has {
			continue
		}
		left = left.DeepCopy()
		if left.Sub(quantity); left.Sign() < 0 {
			left = resource.Quantity{Format: left.Format}
		}
		from[name] = left
	}
}

// growth returns by how much quantities grow, without those that don't.
func growth(after, before core.ResourceList) core.ResourceList {
	grown := core.ResourceList{}
	for name, quantity := range after {
		more := quantity.DeepCopy()
		if more.Sub(before[name]); more.Sign() > 0 {
			grown[name] = more
		}
	}
	return grown
}

// mask returns the quantities whose names are among those of another list.
func mask(list, by core.ResourceList) core.ResourceList {
	some := core.ResourceList{}
	for name, quantity := range list {
		if _, ok := by[name]; ok {
			some[name] = quantity
		}
	}
	return some
}

// withoutZeros returns the quantities of a list that are not zero.
func withoutZeros(list core.ResourceList) core.ResourceList {
	some := core.ResourceList{}
	for name, quantity := range list {
		if !quantity.IsZero() {
			some[name] = quantity
		}
	}
	return some
}

// exceeding returns the quantities of hard that those of used exceed.
func exceeding(used, hard core.ResourceList) core.ResourceList {
	exceeded := core.ResourceList{}
	for name, quantity := range used {
		if most, ok := hard[name]; ok && quantity.Cmp(most) > 0 {
			exceeded[name] = most
		}
	}
	return exceeded
}

func equal(a, b core.ResourceList) bool {
	return maps.EqualFunc(a, b, func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 })
}

func clone(list core.ResourceList) core.ResourceList {
	if list == nil {
		return core.ResourceList{}
	}
	return list.DeepCopy()
}

// describe returns a list as errors show it: pods=1,requests.cpu=2.
func describe(list core.ResourceList) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(list)) {
		quantity := list[name]
		parts = append(parts, string(name)+"="+quantity.String())
	}
	return strings.Join(parts, ",")
}

func describeNames(names []core.ResourceName) string {
	var parts []string
	for _, name := range slices.Sorted(slices.Values(names)) {
		parts = append(parts, string(name))
	}
	return strings.Join(parts, ",")
}
