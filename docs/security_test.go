package docs

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"apigen.dev/docs/internal/snippets"
	"apigen.dev/runtime/server"
	"apigen.dev/runtime/storage/embedded"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// namedTest is a test in a text, by its package.
var namedTest = regexp.MustCompile("`([a-z]+\\.Test[A-Za-z0-9]+)`")

// claim is a paragraph or an item of a list, about somebody who might attack.
type claim struct{ attacker, text string }

// claims returns what SECURITY.md says about those who might attack. held are the claims that something holds, and
// others begin with "Does not hold", or stand behind these words.
func claims(t *testing.T) (held, others []claim) {
	t.Helper()
	page, err := os.ReadFile("../SECURITY.md")
	if err != nil {
		t.Fatal(err)
	}
	_, part, _ := strings.Cut(string(page), "\n## Who might attack, and what holds\n")
	part, _, _ = strings.Cut(part, "\n## ")
	for _, section := range strings.Split(part, "\n### ")[1:] {
		attacker, text, _ := strings.Cut(section, "\n")
		denied := false
		for _, one := range strings.Split(strings.ReplaceAll(text, "\n- ", "\n\n"), "\n\n") {
			switch one = strings.TrimSpace(one); {
			case one == "" || one == "Holds by default:":
			case one == "Does not hold:":
				denied = true
			case denied || strings.HasPrefix(one, "Does not hold: "):
				others = append(others, claim{attacker, one})
			default:
				held = append(held, claim{attacker, one})
			}
		}
	}
	return held, others
}

// TestSecurityNamesTests: each claim of SECURITY.md that something holds names tests, and all tests that it names are
// there.
func TestSecurityNamesTests(t *testing.T) {
	held, others := claims(t)
	if len(held) < 40 || len(others) < 25 {
		t.Errorf("the page has %d claims that something holds, and %d that it doesn't", len(held), len(others))
	}
	for _, claim := range held {
		if !namedTest.MatchString(claim.text) {
			t.Errorf("%s: which test holds this, or does it not hold?\n%s", claim.attacker, claim.text)
		}
	}
	tests := testsOf(t, "../runtime")
	maps.Copy(tests, testsOf(t, "../generator"))
	maps.Copy(tests, testsOf(t, "../docs"))
	for _, claim := range append(held, others...) {
		for _, name := range namedTest.FindAllStringSubmatch(claim.text, -1) {
			if !tests[name[1]] {
				t.Errorf("%s: there is no test %s", claim.attacker, name[1])
			}
		}
	}
}

// TestFlagsTakeNoSecrets: no flag of a server with all features has a value that is secret. Those that are about
// something secret name files, a Secret of a cluster, a duration or a version.
func TestFlagsTakeNoSecrets(t *testing.T) {
	program := snippets.Everything
	program.Embedded = embedded.Etcd{}
	secret := regexp.MustCompile("password|passphrase|secret|token|credential|key")
	about := regexp.MustCompile("file$|-ttl$|-expiration$|-version$|^cluster-certificate-secret$|^tls-sni-cert-key$")
	seen := 0
	var visit func(*cobra.Command)
	visit = func(command *cobra.Command) {
		command.Flags().VisitAll(func(flag *pflag.Flag) {
			if seen++; flag.Value.Type() != "bool" && secret.MatchString(flag.Name) && !about.MatchString(flag.Name) {
				t.Errorf("%s --%s: %s", command.CommandPath(), flag.Name, flag.Usage)
			}
		})
		for _, child := range command.Commands() {
			visit(child)
		}
	}
	visit(server.Command(program))
	if seen < 100 {
		t.Errorf("%d flags", seen)
	}
}

// TestForwardedForDecidesNothing: nothing but the audit and the proxy knows the headers in which clients name their own
// addresses.
func TestForwardedForDecidesNothing(t *testing.T) {
	reads := regexp.MustCompile(`X-Forwarded-For|X-Real-I[Pp]|SourceIPs\(|GetClientIP\(`)
	found := map[string]bool{}
	err := filepath.WalkDir("../runtime", func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		if reads.Match(content) {
			found[strings.TrimPrefix(filepath.ToSlash(filepath.Dir(path)), "../runtime/")] = true
		}
		return err
	})
	want := map[string]bool{"internal/audit/trail": true, "internal/http/proxy": true}
	if err != nil || !maps.Equal(found, want) {
		t.Errorf("%v, %v, want %v", found, err, want)
	}
}

// testsOf returns the tests of the packages in a folder, by the last part of the package's path.
func testsOf(t *testing.T, folder string) map[string]bool {
	t.Helper()
	function := regexp.MustCompile(`(?m)^func (Test[A-Za-z0-9]+)`)
	tests := map[string]bool{}
	err := filepath.WalkDir(folder, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		content, err := os.ReadFile(path)
		for _, found := range function.FindAllSubmatch(content, -1) {
			tests[filepath.Base(filepath.Dir(path))+"."+string(found[1])] = true
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return tests
}
