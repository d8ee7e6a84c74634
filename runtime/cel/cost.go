package cel

import (
	"math"
	"net/netip"
	"net/url"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
)

// costs gives CEL the costs of this package's functions: at run time, and as worst-case estimates. For other functions
// CEL's own costs apply. The figures are Kubernetes': they decide which rules are accepted.
type costs struct {
	// root is the declaration of self.
	root *declaration
}

const perCharacter, perPattern = common.StringTraversalCostFactor, common.RegexStringLengthCostFactor

type costClass uint8

const (
	nominal   costClass = iota + 1 // 1, whatever the arguments
	traversal                      // once through a list and its elements
	reading                        // once through the text of the first argument
	// the same for the value on which the function is called; the result is text of the same length
	readingThis
	readTwice // twice through the first argument
)

var costClasses = map[string]costClass{
	"masked": nominal, "prefixLength": nominal, "family": nominal, "isUnspecified": nominal, "isLoopback": nominal,
	"isLinkLocalMulticast": nominal, "isLinkLocalUnicast": nominal, "isGlobalUnicast": nominal,
	"format.named": nominal, "sign": nominal, "asInteger": nominal, "isInteger": nominal,
	"asApproximateFloat": nominal, "isGreaterThan": nominal, "isLessThan": nominal, "compareTo": nominal,
	"add": nominal, "sub": nominal, "major": nominal, "minor": nominal, "patch": nominal, "getScheme": nominal,
	"getHostname": nominal, "getHost": nominal, "getPort": nominal, "getEscapedPath": nominal, "getQuery": nominal,
	"isSorted": traversal, "sum": traversal, "max": traversal, "min": traversal, "indexOf": traversal,
	"lastIndexOf": traversal,
	"url":         reading, "cidr": reading, "isIP": reading, "isCIDR": reading, "ip": reading, "quantity": reading,
	"isQuantity": reading, "semver": reading, "isSemver": reading,
	"lowerAscii": readingThis, "upperAscii": readingThis, "substring": readingThis, "trim": readingThis,
	"ip.isCanonical": readTwice,
}

func costClassOf(function, overload string) costClass {
	if overload == "cidr_ip" {
		return nominal
	}
	return costClasses[function]
}

// CallCost returns the cost of a call, or nil for CEL's own.
func (c *costs) CallCost(function, overload string, args []ref.Val, result ref.Val) *uint64 {
	if len(args) == 0 {
		return nil
	}
	switch costClassOf(function, overload) {
	case nominal:
		return units(1)
	case traversal:
		return units(traverse(args[0]))
	case reading, readingThis:
		return units(read(args[0], 1))
	case readTwice:
		return units(read(args[0], 2))
	}
	switch function {
	case "replace", "split":
		return units(read(args[0], 2))
	case "join":
		return units(read(result, 2))
	}
	if len(args) < 2 {
		return nil
	}
	switch function {
	case "find", "findAll":
		return units(match(size(args[0]), size(args[1])))
	case "validate":
		if f, ok := args[0].Value().(*format); ok {
			return units(match(size(args[1]), uint64(f.pattern)))
		}
	case "containsIP", "containsCIDR":
		return units(containment(function, overload, args))
	case "_==_":
		switch args[0].(type) {
		case opaque[quantity], opaque[semver], opaque[*format], opaque[*url.URL], opaque[netip.Addr],
			opaque[netip.Prefix]:
			return units(1)
		}
	}
	return nil
}

// containment is the cost of comparing the bytes of two blocks, and of parsing the second if it is text.
func containment(function, overload string, args []ref.Val) uint64 {
	cost := read(args[0], 2)
	if function == "containsCIDR" {
		cost += read(args[0], 1) + 1
	}
	if overload == "cidr_contains_ip_string" || overload == "cidr_contains_cidr_string" {
		cost += read(args[1], 1)
	}
	return cost
}

func units(n uint64) *uint64 { return &n }

func size(v ref.Val) uint64 {
	if s, ok := v.(traits.Sizer); ok {
		if n, ok := s.Size().(types.Int); ok {
			return uint64(n)
		}
	}
	return 1
}

func read(v ref.Val, times float64) uint64 {
	return uint64(math.Ceil(float64(size(v)) * times * perCharacter))
}

// match returns the cost of searching for a pattern. It takes the text to be longer than it is, so that an expensive
// pattern is expensive for any text.
func match(text, pattern uint64) uint64 {
	return uint64(math.Ceil((1+float64(text))*perCharacter)) * uint64(math.Ceil(float64(pattern)*perPattern))
}

func traverse(v ref.Val) uint64 {
	switch v := v.(type) {
	case types.String:
		return uint64(float64(len(v)) * perCharacter)
	case types.Bytes:
		return uint64(float64(len(v)) * perCharacter)
	case traits.Lister:
		var cost uint64
		for it := v.Iterator(); it.HasNext() == types.True; {
			cost += traverse(it.Next())
		}
		return cost
	case traits.Mapper:
		var cost uint64
		for it := v.Iterator(); it.HasNext() == types.True; {
			key := it.Next()
			cost += traverse(key) + traverse(v.Get(key))
		}
		return cost
	}
	return 1
}

// EstimateSize returns bounds for the size of a node's value, by the schema.
func (c *costs) EstimateSize(node checker.AstNode) *checker.SizeEstimate {
	path := node.Path()
	if len(path) == 0 || c.root == nil {
		return nil
	}
	at := c.root
	for _, name := range path[1:] { // the first is self or oldSelf
		switch name {
		case "@items", "@values":
			at = at.elem
		case "@keys":
			at = at.key
		default:
			at = at.fields[name]
		}
		if at == nil {
			return nil
		}
	}
	return &checker.SizeEstimate{Max: uint64(at.most)}
}
