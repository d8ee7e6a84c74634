package cel

import (
	"fmt"
	"strings"
	"testing"
)

// claims are the claims of a token, for tests.
var claims = map[string]any{
	"sub": "joe", "email": "joe@example.com", "email_verified": true, "exp": float64(2000), "nbf": float64(1000),
	"groups": []any{"a", "", "b"}, "mixed": []any{"a", float64(1)}, "nothing": nil,
	"example.com/roles": map[string]any{"in.shop": []any{map[string]any{"a/b": "deep"}}},
	"__dot__":           "odd",
}

func environments(t *testing.T) (ofClaims, ofUser *Environment) {
	t.Helper()
	text := &Schema{Type: "string"}
	list := &Schema{Type: "array", Items: text}
	ofClaims, err := NewEnvironment("claims", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	ofUser, err = NewEnvironment("user", "kubernetes.UserInfo", &Schema{Type: "object", Properties: map[string]*Schema{
		"username": text, "groups": list, "extra": {Type: "object", Values: list}}})
	if err != nil {
		t.Fatal(err)
	}
	return ofClaims, ofUser
}

func TestExpressions(t *testing.T) {
	ofClaims, ofUser := environments(t)
	user := NewValue(map[string]any{"username": "joe", "groups": []string{"a"},
		"extra": map[string][]string{"example.com/a": {"x"}}})
	for _, row := range []struct {
		env        *Environment
		expression string
		want       string // of Holds, Text and Texts: ! is an error
	}{
		{ofClaims, `claims.sub`, "! joe [joe]"},
		{ofClaims, `"x:" + claims.sub`, "! x:joe [x:joe]"},
		{ofClaims, `claims.email_verified`, "true ! !"},
		{ofClaims, `claims.exp - claims.nbf <= 86400`, "true ! !"},
		{ofClaims, `has(claims.nobody)`, "false ! !"},
		{ofClaims, `claims.?nobody.orValue("none")`, "! none [none]"},
		{ofClaims, `claims.nobody`, "! ! !"},
		{ofClaims, `claims.groups`, "! ! [a b]"},
		{ofClaims, `dyn(claims.groups).map(g, "x:" + string(g))`, "! ! [x:a x: x:b]"},
		{ofClaims, `claims.mixed`, "! ! !"},
		{ofClaims, `claims.nothing`, "! ! []"},
		{ofClaims, `""`, "!  []"},
		{ofClaims, `claims["example.com/roles"]["in.shop"][0]["a/b"]`, "! deep [deep]"},
		{ofClaims, `claims.example__dot__com__slash__roles.in__dot__shop[0].a__slash__b`, "! deep [deep]"},
		{ofClaims, `"example.com/roles" in claims`, "true ! !"},
		{ofClaims, `claims.groups.all(g, true)`, "compilation"}, // in Kubernetes, too, any is not a list before dyn
		{ofClaims, expensive(20), "! ! !"},
		{ofUser, `user.username.startsWith("system:")`, "false ! !"},
		{ofUser, `user.groups.exists(g, g == "a")`, "true ! !"},
		{ofUser, `user.extra.example__dot__com__slash__a`, "! ! [x]"},
		{ofUser, `user.extra["example.com/a"][0]`, "! x [x]"},
	} {
		x, err := row.env.Expression(row.expression)
		if err != nil {
			if !strings.HasPrefix(err.Error(), row.want) {
				t.Errorf("%s: %v", row.expression, err)
			}
			continue
		}
		v := user
		if row.env == ofClaims {
			v = NewValue(claims)
		}
		if got := results(t, x, v); got != row.want {
			t.Errorf("%s: %s, want %s", row.expression, got, row.want)
		}
	}
}

// expensive returns an expression with loops in loops.
func expensive(loops int) string {
	text := "true"
	for range loops {
		text = "dyn(claims.groups).all(g, " + text + ")"
	}
	return text
}

// results has the three ways to evaluate an expression.
func results(t *testing.T, x *Expression, v Value) string {
	var out []string
	add := func(result any, err error) {
		if err != nil {
			out = append(out, "!")
			return
		}
		out = append(out, fmt.Sprint(result))
	}
	holds, err := x.Holds(t.Context(), v)
	add(holds, err)
	text, err := x.Text(t.Context(), v)
	add(text, err)
	texts, err := x.Texts(t.Context(), v)
	add(texts, err)
	return strings.Join(out, " ")
}

func TestWrongExpressions(t *testing.T) {
	ofClaims, ofUser := environments(t)
	for _, row := range []struct {
		env              *Environment
		expression, want string
	}{
		{ofClaims, `claims.`, "compilation failed: ERROR: <input>:1:8: Syntax error"},
		{ofClaims, `user.username == "a"`, "undeclared reference to 'user'"},
		{ofClaims, `claims.sub`, "must evaluate to bool"},
		{ofClaims, `"a"`, "must evaluate to bool"},
		{ofUser, `user.name == "a"`, "undefined field 'name'"},
		{ofUser, `user.groups == "a"`, "no matching overload"},
	} {
		if _, err := row.env.Condition(row.expression); err == nil || !strings.Contains(err.Error(), row.want) {
			t.Errorf("%s: %v, want %q", row.expression, err, row.want)
		}
	}
	if _, err := NewEnvironment("x", "X", &Schema{Type: "nonsense"}); err == nil {
		t.Error("a schema without a type is accepted")
	}
}

func TestSelects(t *testing.T) {
	env, _ := environments(t)
	for expression, want := range map[string]bool{
		`claims.email`: true, `claims.?email.orValue("x")`: true, `has(claims.email)`: true,
		`[1].all(i, claims.email == "x")`: true, `{"a": claims.email}`: true, `claims.sub.email`: false,
		`claims.email_verified`: false, `claims["email"]`: false, `"email"`: false,
		`[claims].exists(c, c.email == "a")`: false,
	} {
		x, err := env.Expression(expression)
		if err != nil {
			t.Fatalf("%s: %v", expression, err)
		}
		if got := x.Selects("email"); got != want {
			t.Errorf("%s: %v, want %v", expression, got, want)
		}
	}
}
