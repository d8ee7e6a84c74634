package conversion

import (
	"fmt"
	"sort"
	"strings"

	"apigen.dev/generator/emit"
	"apigen.dev/generator/model"
)

// Report says, for each kind of each spoke, what its conversions to the hub and back don't copy as it is: fields that are
// dropped, preserved or renamed, functions written by hand, and values that one side can't tell apart or hold. A pair of
// kinds of which everything is copied is one line.
func Report(program *model.Program) []string {
	var out []string
	for _, t := range planned(program, &emit.Errors{}) {
		for _, p := range t.pairs {
			if !t.pkg.Output || !t.spokes(p.in) || p.in.Kind == nil || p.out.Kind == nil {
				continue
			}
			r := &report{task: t, active: map[pair]bool{}, told: map[string]bool{}}
			r.walk(p, "")
			head := fmt.Sprintf("%s <-> %s", text(p.in, nil), text(p.out, nil))
			if len(r.lines) == 0 {
				out = append(out, head+": nothing is lost")
				continue
			}
			sort.SliceStable(r.lines, func(i, j int) bool {
				a, _, _ := strings.Cut(r.lines[i], ": ")
				b, _, _ := strings.Cut(r.lines[j], ": ")
				return a < b
			})
			out = append(out, head+":")
			for _, line := range r.lines {
				out = append(out, "  "+line)
			}
		}
	}
	return out
}

// hubName is the hub in messages.
const hubName = "the hub"

// report is that of one pair of kinds.
type report struct {
	*task
	active map[pair]bool
	told   map[string]bool
	lines  []string
}

func (r *report) say(path, format string, args ...any) {
	if path == "" {
		path = "."
	}
	line := path + ": " + fmt.Sprintf(format, args...)
	if !r.told[line] {
		r.told[line] = true
		r.lines = append(r.lines, line)
	}
}

func (r *report) walk(p pair, path string) {
	if r.active[p] || identical(p.in, p.out) && r.funcs.find(p) == nil {
		return
	}
	r.active[p] = true
	defer delete(r.active, p)
	byHand := r.byHand(p, path)
	in, out := p.in, p.out
	switch {
	case in.Form == model.Struct && out.Form == model.Struct:
		r.fields(p, path, byHand)
	case byHand:
	case in.Form == model.Pointer && out.Form == model.Pointer:
		r.walk(pair{in.Elem, out.Elem}, path)
	case in.Form == model.Pointer:
		r.say(path, "a pointer in %s and a value in %s: nil becomes the zero value", r.types.Name, hubName)
		r.walk(pair{in.Elem, out}, path)
	case out.Form == model.Pointer:
		r.say(path, "a value in %s and a pointer in %s: nil becomes the zero value", r.types.Name, hubName)
		r.walk(pair{in, out.Elem}, path)
	case in.Form == model.Slice && out.Form == model.Slice, in.Form == model.Array && out.Form == model.Array:
		r.walk(pair{in.Elem, out.Elem}, path+"[]")
	case in.Form == model.Map && out.Form == model.Map:
		r.walk(pair{in.Elem, out.Elem}, path+"{}")
	case in.Form == model.Basic && out.Form == model.Basic:
		r.numbers(p, path)
	}
}

// byHand names the functions and methods written by hand for the pair, and tells whether they take care of all of it.
func (r *report) byHand(p pair, path string) bool {
	both := 0
	for _, d := range []pair{p, p.reverse()} {
		switch fn := r.funcs.find(d); {
		case fn != nil && fn.drop:
			r.say(path, "dropped by %s", fn.name)
			both++
		case fn != nil && !fn.copyOnly:
			r.say(path, "by hand: %s", fn.name)
			both++
		case byMethod(d) != nil:
			r.say(path, "by hand: a method of %s", text(p.in, nil))
			both++
		}
	}
	return both == 2
}

func (r *report) fields(p pair, path string, byHand bool) {
	for _, f := range p.in.Fields {
		at, g := dotted(path, f), counterpart(p.out, f)
		switch {
		case isTypeMeta(f.Type):
		case leftOut(f) || g != nil && leftOut(g):
			r.say(at, "dropped")
		case g == nil && f.Preserve:
			r.say(at, "preserved in the annotation %s of %s", OwnAnnotation(r.types), hubName)
		case g == nil && byHand:
			r.say(at, "left to what is written by hand")
		case g != nil:
			if f.Name != g.Name {
				r.say(at, "renamed: %s in %s", dotted(path, g), hubName)
			}
			r.walk(pair{f.Type, g.Type}, at)
		}
	}
	for _, g := range p.out.Fields {
		at := dotted(path, g)
		switch f := counterpart(p.in, g); {
		case f != nil:
		case leftOut(g):
			r.say(at, "dropped from %s", hubName)
		case g.Preserve:
			r.say(at, "preserved in the annotation %s", PreservedAnnotation)
		case byHand:
			r.say(at, "of %s, left to what is written by hand", hubName)
		}
	}
}

// numbers tells where one side holds less than the other: conversions to it may be refused.
func (r *report) numbers(p pair, path string) {
	in, inBits := class(basicName(p.in))
	out, outBits := class(basicName(p.out))
	if in == "" || out == "" || in == out && inBits == outBits {
		return
	}
	r.say(path, "%s in %s and %s in %s: what doesn't fit is refused", basicName(p.in), r.types.Name, basicName(p.out), hubName)
}
