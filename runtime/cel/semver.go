package cel

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	celgo "github.com/google/cel-go/cel"
	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
)

// semvers has semver, isSemver, and comparisons of semantic versions.
type semvers struct{ plain }

// semver is a semantic version, 2.0.0. Build metadata doesn't count.
//
// Rules must accept, compare and refuse versions as kube-apiserver does, with its messages. kube-apiserver has them
// from github.com/blang/semver/v4, which isn't in this module's graph: as a dependency it would come with every user's
// server and with apigen, for these few functions. golang.org/x/mod/semver, which is in the graph, wants a leading v,
// takes short versions, and gives no reasons. The tests of the generator compare this code with
// apiextensions-apiserver.
type semver struct {
	numbers [3]uint64
	pre     []identifier
	written string
}

// identifier is one part of a pre-release.
type identifier struct {
	text    string
	number  uint64
	numeric bool
}

var semverClass = &class[semver]{
	typ: celgo.ObjectType("kubernetes.Semver"), name: "Semver",
	equal: func(a, b semver) bool { return a.compare(b) == 0 },
	text:  func(v semver) string { return v.written },
}

// LibraryName returns Kubernetes' name.
func (semvers) LibraryName() string { return "kubernetes.Semver" }

// CompileOptions declares the functions.
func (semvers) CompileOptions() []celgo.EnvOption {
	str, boolean, integer, typ := celgo.StringType, celgo.BoolType, celgo.IntType, semverClass.typ
	part := func(id string, i int) []celgo.FunctionOpt {
		return []celgo.FunctionOpt{member(id, signature(typ), integer,
			on(func(v semver) ref.Val { return types.Int(v.numbers[i]) }))}
	}
	two := signature(typ, typ)
	return declarations{
		"semver": {
			global("string_to_semver", signature(str), typ, on(func(s string) ref.Val { return version(s, false) })),
			global("string_bool_to_semver", signature(str, boolean), typ, onBoth(version)),
		},
		"isSemver": {
			global("is_semver_string", signature(str), boolean,
				on(func(s string) ref.Val { return isVersion(s, false) })),
			global("is_semver_string_bool", signature(str, boolean), boolean, onBoth(isVersion)),
		},
		"isGreaterThan": {member("semver_is_greater_than", two, boolean,
			onBoth(func(a, b semver) ref.Val { return types.Bool(a.compare(b) > 0) }))},
		"isLessThan": {member("semver_is_less_than", two, boolean,
			onBoth(func(a, b semver) ref.Val { return types.Bool(a.compare(b) < 0) }))},
		"compareTo": {member("semver_compare_to", two, integer,
			onBoth(func(a, b semver) ref.Val { return types.Int(a.compare(b)) }))},
		"major": part("semver_major", 0),
		"minor": part("semver_minor", 1),
		"patch": part("semver_patch", 2),
	}.options()
}

func version(s string, lenient bool) ref.Val {
	v, err := parseVersion(s, lenient)
	if err != nil {
		return types.WrapErr(err)
	}
	return semverClass.of(v)
}

func isVersion(s string, lenient bool) ref.Val {
	_, err := parseVersion(s, lenient)
	return types.Bool(err == nil)
}

// parseVersion parses a version. A lenient one may begin with a v, have leading zeros in its numbers, and lack the last
// numbers.
func parseVersion(s string, lenient bool) (semver, error) {
	if lenient {
		var err error
		if s, err = normalize(s); err != nil {
			return semver{}, err
		}
	}
	v := semver{written: s}
	if s == "" {
		return v, errors.New("Version string empty")
	}
	parts := strings.SplitN(s, ".", 3)
	if len(parts) != 3 {
		return v, errors.New("No Major.Minor.Patch elements found")
	}
	rest, build, built := strings.Cut(parts[2], "+")
	number, pre, prerelease := strings.Cut(rest, "-")
	for i, text := range []string{parts[0], parts[1], number} {
		var err error
		if v.numbers[i], err = numeral([]string{"Major", "Minor", "Patch"}[i]+" number", text); err != nil {
			return v, err
		}
	}
	if prerelease {
		for _, text := range strings.Split(pre, ".") {
			id, err := parseIdentifier(text)
			if err != nil {
				return v, err
			}
			v.pre = append(v.pre, id)
		}
	}
	if built {
		for _, text := range strings.Split(build, ".") {
			if text == "" {
				return v, errors.New("Build meta data is empty")
			}
			if !consists(text, isAlphanumeric) {
				return v, fmt.Errorf("Invalid character(s) found in build meta data %q", text)
			}
		}
	}
	return v, nil
}

func normalize(s string) (string, error) {
	parts := strings.SplitN(strings.TrimPrefix(s, "v"), ".", 3)
	for i, p := range parts {
		if len(p) < 2 {
			continue
		}
		p = strings.TrimLeft(p, "0")
		if p == "" || !isDigit(p[0]) {
			p = "0" + p
		}
		parts[i] = p
	}
	if len(parts) < 3 && strings.ContainsAny(parts[len(parts)-1], "+-") {
		return "", errors.New("short version cannot contain PreRelease/Build meta data")
	}
	for len(parts) < 3 {
		parts = append(parts, "0")
	}
	return strings.Join(parts, "."), nil
}

// numeral parses one of a version's numbers; name is its name in errors.
func numeral(name, text string) (uint64, error) {
	if !consists(text, isDigit) {
		return 0, fmt.Errorf("Invalid character(s) found in %s %q", strings.ToLower(name), text)
	}
	if len(text) > 1 && text[0] == '0' {
		return 0, fmt.Errorf("%s must not contain leading zeroes %q", name, text)
	}
	return strconv.ParseUint(text, 10, 64)
}

func parseIdentifier(text string) (identifier, error) {
	switch {
	case text == "":
		return identifier{}, errors.New("Prerelease is empty")
	case consists(text, isDigit):
		n, err := numeral("Numeric PreRelease version", text)
		return identifier{number: n, numeric: true}, err
	case consists(text, isAlphanumeric):
		return identifier{text: text}, nil
	}
	return identifier{}, fmt.Errorf("Invalid character(s) found in prerelease %q", text)
}

func consists(text string, of func(byte) bool) bool {
	for i := 0; i < len(text); i++ {
		if !of(text[i]) {
			return false
		}
	}
	return true
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
func isAlphanumeric(c byte) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-'
}

// compare orders versions: a pre-release is less than its release, and the identifiers order two pre-releases. Numbers
// are less than text.
func (v semver) compare(o semver) int {
	for i := range v.numbers {
		if c := cmp.Compare(v.numbers[i], o.numbers[i]); c != 0 {
			return c
		}
	}
	if len(v.pre) == 0 || len(o.pre) == 0 {
		return cmp.Compare(len(o.pre), len(v.pre)) // sizes differ only where one of them is a release
	}
	for i := 0; i < len(v.pre) && i < len(o.pre); i++ {
		if c := v.pre[i].compare(o.pre[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(v.pre), len(o.pre))
}

func (i identifier) compare(o identifier) int {
	switch {
	case i.numeric && o.numeric:
		return cmp.Compare(i.number, o.number)
	case i.numeric:
		return -1
	case o.numeric:
		return 1
	}
	return strings.Compare(i.text, o.text)
}
