package cel

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	celgo "github.com/google/cel-go/cel"
)

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

// semverFunctions are semver, isSemver, and the numbers of a semantic version.
func semverFunctions() functions {
	strict := func(s string) (semver, error) { return parseVersion(s, false) }
	valid := func(s string, lenient bool) bool {
		_, err := parseVersion(s, lenient)
		return err == nil
	}
	return functions{
		"semver": {
			global("string_to_semver", unaryOrError(strict)),
			global("string_bool_to_semver", binaryOrError(parseVersion)),
		},
		"isSemver": {
			global("is_semver_string", unary(succeeds(strict))),
			global("is_semver_string_bool", binary(valid)),
		},
		"major": {member("semver_major", unary(func(v semver) uint64 { return v.numbers[0] }))},
		"minor": {member("semver_minor", unary(func(v semver) uint64 { return v.numbers[1] }))},
		"patch": {member("semver_patch", unary(func(v semver) uint64 { return v.numbers[2] }))},
	}
}

// parseVersion parses a version. A lenient one may begin with a v, have leading zeros, and lack the last numbers.
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
		if p == "" || !isDigit(rune(p[0])) {
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

func consists(text string, of func(rune) bool) bool {
	return !strings.ContainsFunc(text, func(c rune) bool { return !of(c) })
}

func isDigit(c rune) bool { return c >= '0' && c <= '9' }
func isAlphanumeric(c rune) bool {
	return isDigit(c) || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-'
}

// compare orders versions: a pre-release is less than its release, and numbers are less than text.
func (v semver) compare(o semver) int {
	if c := slices.Compare(v.numbers[:], o.numbers[:]); c != 0 {
		return c
	}
	if len(v.pre) == 0 || len(o.pre) == 0 {
		return cmp.Compare(len(o.pre), len(v.pre)) // sizes differ only where one of them is a release
	}
	return slices.CompareFunc(v.pre, o.pre, identifier.compare)
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
