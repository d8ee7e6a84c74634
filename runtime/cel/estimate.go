package cel

import (
	"math"

	"github.com/google/cel-go/checker"
	"github.com/google/cel-go/common/ast"
	"github.com/google/cel-go/common/types"
)

// EstimateCallCost returns bounds for the cost of a call and for the size of its result, or nil for CEL's own.
func (c *costs) EstimateCallCost(function, overload string, target *checker.AstNode,
	args []checker.AstNode) *checker.CallEstimate {
	class := costClassOf(function, overload)
	switch {
	case class == nominal:
		return &checker.CallEstimate{CostEstimate: checker.CostEstimate{Min: 1, Max: 1}}
	case class == traversal && target != nil:
		return &checker.CallEstimate{CostEstimate: c.traversal(*target)}
	case class == reading && len(args) > 0:
		size := c.size(args[0])
		call := &checker.CallEstimate{CostEstimate: size.MultiplyByCostFactor(perCharacter)}
		if function == "url" {
			call.ResultSize = &size
		}
		return call
	case class == readTwice && len(args) > 0:
		return &checker.CallEstimate{CostEstimate: c.size(args[0]).MultiplyByCostFactor(2 * perCharacter)}
	case class == readingThis && target != nil:
		size := c.size(*target)
		return &checker.CallEstimate{CostEstimate: size.MultiplyByCostFactor(perCharacter), ResultSize: &size}
	case function == "_==_" && len(args) == 2:
		return c.equality(args[0], args[1])
	case target != nil:
		return c.member(function, overload, *target, args)
	}
	return nil
}

func (c *costs) member(function, overload string, target checker.AstNode,
	args []checker.AstNode) *checker.CallEstimate {
	size := c.size(target)
	switch function {
	case "split":
		return c.split(size, args)
	case "join":
		return c.join(target, args)
	}
	if len(args) == 0 {
		return nil
	}
	switch function {
	case "replace":
		if len(args) >= 2 {
			return c.replace(size, c.size(args[0]), c.size(args[1]))
		}
	case "find", "findAll":
		text := size.Add(checker.SizeEstimate{Min: 1, Max: 1}).MultiplyByCostFactor(perCharacter)
		pattern := c.size(args[0]).MultiplyByCostFactor(perPattern)
		return &checker.CallEstimate{CostEstimate: text.Multiply(pattern),
			ResultSize: &checker.SizeEstimate{Max: size.Max}}
	case "validate":
		cost := c.size(args[0]).MultiplyByCostFactor(perCharacter).MultiplyByCostFactor(mostPattern * perPattern)
		return &checker.CallEstimate{CostEstimate: cost}
	case "containsIP", "containsCIDR":
		address := checker.SizeEstimate{Min: 4, Max: 16} // bytes
		cost := address.Add(address).MultiplyByCostFactor(perCharacter)
		if function == "containsCIDR" {
			cost = cost.Add(address.MultiplyByCostFactor(perCharacter)).Add(checker.CostEstimate{Min: 1, Max: 1})
		}
		if overload == "cidr_contains_ip_string" || overload == "cidr_contains_cidr_string" {
			cost = cost.Add(checker.CostEstimate(c.size(args[0])).MultiplyByCostFactor(perCharacter))
		}
		return &checker.CallEstimate{CostEstimate: cost}
	}
	return nil
}

// traversal estimates the cost of traversing a list, and of reading elements that are text or bytes.
func (c *costs) traversal(target checker.AstNode) checker.CostEstimate {
	size := c.size(target)
	elem := element(target)
	if elem == nil {
		return size.MultiplyByCostFactor(perCharacter)
	}
	each := checker.CostEstimate{Min: 1, Max: 1}
	if k := elem.Type().Kind(); k == types.StringKind || k == types.BytesKind {
		each = each.Add(c.size(elem).MultiplyByCostFactor(perCharacter))
	}
	return size.MultiplyByCost(each)
}

// split returns an element for each character at worst, if there is no limit.
func (c *costs) split(size checker.SizeEstimate, args []checker.AstNode) *checker.CallEstimate {
	most := size.Max
	if len(args) > 1 {
		if literal := args[1].Expr().AsLiteral(); literal != nil {
			if n, ok := literal.Value().(int64); ok {
				most = uint64(n)
			}
		}
	}
	return &checker.CallEstimate{CostEstimate: size.MultiplyByCostFactor(2 * perCharacter),
		ResultSize: &checker.SizeEstimate{Max: most}}
}

// join returns text with all elements and the separators between them.
func (c *costs) join(target checker.AstNode, args []checker.AstNode) *checker.CallEstimate {
	count := c.size(target)
	var size checker.SizeEstimate
	if elem := element(target); elem != nil {
		size = count.Multiply(c.size(elem))
	}
	if len(args) > 0 {
		between := checker.SizeEstimate{Min: max(count.Min, 1) - 1, Max: max(count.Max, 1) - 1}
		size = size.Add(c.size(args[0]).Multiply(between))
	}
	return &checker.CallEstimate{CostEstimate: size.MultiplyByCostFactor(perCharacter), ResultSize: &size}
}

// replace estimates the size of the result. It is longest where the shortest pattern is replaced by the longest
// replacement as often as the pattern fits, and shortest the other way round.
func (c *costs) replace(size, old, by checker.SizeEstimate) *checker.CallEstimate {
	var times, kept checker.SizeEstimate
	switch {
	case old.Min == 0: // an empty pattern matches around each character
		times.Max, kept.Max = after(size.Max), size.Max
	case by.Max <= old.Min:
		kept.Max = size.Max
	default:
		times.Max = uint64(math.Ceil(float64(size.Max) / float64(old.Min)))
	}
	switch {
	case old.Max == 0:
		times.Min, kept.Min = after(size.Min), size.Min
	case old.Max <= by.Min:
		kept.Min = size.Min
	default:
		times.Min = uint64(math.Ceil(float64(size.Min) / float64(old.Max)))
	}
	result := times.Multiply(by).Add(kept)
	return &checker.CallEstimate{CostEstimate: size.MultiplyByCostFactor(2 * perCharacter), ResultSize: &result}
}

func after(n uint64) uint64 {
	if n == math.MaxUint64 {
		return n
	}
	return n + 1
}

// equality is cheap for values of this package's classes.
func (c *costs) equality(left, right checker.AstNode) *checker.CallEstimate {
	if left.Type().Equal(right.Type()) != types.True {
		return nil
	}
	most := uint64(1)
	switch left.Type().TypeName() {
	case addressClass.typ.TypeName(), networkClass.typ.TypeName(), quantityClass.typ.TypeName(),
		semverClass.typ.TypeName():
		return &checker.CallEstimate{CostEstimate: checker.CostEstimate{Min: 1, Max: 1}}
	case formatClass.typ.TypeName():
		most = mostFormat
	case urlClass.typ.TypeName():
		if size := right.ComputedSize(); size != nil {
			most = size.Max
		}
	default:
		return nil
	}
	return &checker.CallEstimate{CostEstimate: checker.CostEstimate{Min: 1,
		Max: most}.MultiplyByCostFactor(perCharacter)}
}

// size returns bounds for the size of a value: as computed, by the schema, or none.
func (c *costs) size(node checker.AstNode) checker.SizeEstimate {
	if size := node.ComputedSize(); size != nil {
		return *size
	}
	if size := c.EstimateSize(node); size != nil {
		return *size
	}
	return checker.SizeEstimate{Max: math.MaxUint64}
}

// element returns a node for the elements of a list, or nil if the node is not a list.
func element(list checker.AstNode) checker.AstNode {
	params := list.Type().Parameters()
	if len(params) == 0 {
		return nil
	}
	e := elementNode{typ: params[0]}
	if path := list.Path(); path != nil {
		e.path = append(append([]string{}, path...), "@items")
	}
	return e
}

type elementNode struct {
	path []string
	typ  *types.Type
}

func (e elementNode) Path() []string                      { return e.path } // nil if the list isn't part of self
func (e elementNode) Type() *types.Type                   { return e.typ }
func (e elementNode) Expr() ast.Expr                      { return nil }
func (e elementNode) ComputedSize() *checker.SizeEstimate { return nil }
