package webhook

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"apigen.dev/runtime/admission"
	"apigen.dev/runtime/internal/access/match"
	"apigen.dev/runtime/internal/access/policy"
	registration "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
)

// hook is a webhook of a configuration. It is immutable.
type hook struct {
	*registration.ValidatingWebhook
	// configuration is the name of its configuration, and id is unique among the hooks of a plug-in.
	configuration, id string
	// reinvoked reports whether the hook is called again if the object changed after it was called.
	reinvoked bool
	// static reports whether the hook is from a file.
	static bool
	rules  match.Rules
	// selectors returns the error of a selector that can't be parsed; conditions compiles at first use, which takes
	// milliseconds.
	selectors  func() (match.Selectors, error)
	conditions func() *match.Conditions
	// endpoint tells hooks apart that need clients of their own.
	endpoint string
}

func newHook(configuration string, w *registration.ValidatingWebhook) *hook {
	endpoint, err := json.Marshal(w.ClientConfig)
	if err != nil {
		panic(err) // it consists of texts and numbers
	}
	h := &hook{
		ValidatingWebhook: w, configuration: configuration, rules: match.RulesOf(w.Rules, w.MatchPolicy),
		endpoint: string(endpoint),
		selectors: sync.OnceValues(func() (match.Selectors, error) {
			return match.NewSelectors(w.NamespaceSelector, w.ObjectSelector)
		}),
	}
	h.conditions = sync.OnceValue(h.compile)
	return h
}

func (h *hook) compile() *match.Conditions {
	if len(h.MatchConditions) == 0 {
		return nil
	}
	compiler, err := policy.NewCompiler(policy.Declared{Authorizer: true})
	if err != nil {
		panic(err) // the environment is constant
	}
	return match.NewConditions(compiler, h.MatchConditions, h.ignoresFailures())
}

// ignoresFailures reports whether a failed call lets the write pass.
func (h *hook) ignoresFailures() bool {
	return h.FailurePolicy != nil && *h.FailurePolicy == registration.Ignore
}

// identified sets the ids of the hooks of a configuration, before others see them, and returns them.
func identified(configuration string, all []*hook) []*hook {
	names := map[string]int{}
	for _, one := range all {
		one.id = fmt.Sprintf("%s/%s/%d", configuration, one.Name, names[one.Name])
		names[one.Name]++
	}
	return all
}

// hooks are all webhooks of a plug-in, those of files first, in the order of the names of their configurations. They
// are immutable.
type hooks struct {
	all   []*hook
	index *match.Index
}

func newHooks(static []*hook, known map[string][]*hook) *hooks {
	h := &hooks{all: slices.Clone(static)}
	for _, configuration := range slices.Sorted(maps.Keys(known)) {
		h.all = append(h.all, known[configuration]...)
	}
	rules := make([]*match.Rules, len(h.all))
	for i, one := range h.all {
		rules[i] = &one.rules
	}
	h.index = match.NewIndex(rules)
	return h
}

// concerned returns the hooks whose rules may match a write, with their places among all. Policies and webhooks concern
// only hooks of files: one that refuses them could not be mended.
func (h *hooks) concerned(a *admission.Attributes) iter.Seq2[int, *hook] {
	return func(yield func(int, *hook) bool) {
		registers := match.IsRegistration(a)
		for _, i := range h.index.Candidates(a) {
			if one := h.all[i]; (one.static || !registers) && !yield(i, one) {
				return
			}
		}
	}
}

// endpoints returns those of all hooks.
func (h *hooks) endpoints() map[string]bool {
	all := make(map[string]bool, len(h.all))
	for _, one := range h.all {
		all[one.endpoint] = true
	}
	return all
}

// calls reports whether a hook is called for a write, and in which form it sees the object.
func (f *Feature) calls(
	ctx context.Context, h *hook, a *admission.Attributes, stepType string,
) (form admission.Form, matches bool, err error) {
	form, matches = h.rules.Find(a)
	if !matches {
		return form, false, nil
	}
	selectors, err := h.selectors()
	if err != nil {
		return form, false, apierrors.NewInternalError(err)
	}
	if !selectors.MatchObject(a) {
		return form, false, nil
	}
	if matches, err = selectors.MatchNamespace(ctx, a, &f.namespaces); !matches || err != nil {
		return form, false, err
	}
	conditions := h.conditions()
	if conditions == nil {
		return form, true, nil
	}
	in, err := match.Input(ctx, a, form, &f.namespaces)
	if err != nil {
		return form, false, err
	}
	began := time.Now()
	matches, err = conditions.Hold(ctx, in)
	f.metrics.conditionsHeld(h, stepType, a, began, matches || err != nil)
	if err != nil {
		return form, false, apierrors.NewForbidden(a.Resource.GroupResource(), a.Name, err)
	}
	return form, matches, nil
}
