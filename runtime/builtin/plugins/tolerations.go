package plugins

import (
	"context"

	"apigen.dev/runtime/admission"
	"github.com/spf13/pflag"
	core "k8s.io/api/core/v1"
)

// tolerationSeconds is the plug-in DefaultTolerationSeconds: a pod stays this many seconds on a node that is not ready,
// or that nobody reaches, unless it says something else.
type tolerationSeconds struct {
	notReady, unreachable int64
}

func (s *tolerationSeconds) addFlags(flags *pflag.FlagSet) {
	flags.Int64Var(&s.notReady, "default-not-ready-toleration-seconds", 300,
		"how many seconds pods stay on a node that is not ready, unless they say")
	flags.Int64Var(&s.unreachable, "default-unreachable-toleration-seconds", 300,
		"how many seconds pods stay on a node that is unreachable, unless they say")
}

func (s *tolerationSeconds) plugin() admission.Plugin {
	return admission.For(admission.Typed[*core.Pod]{
		Name: "DefaultTolerationSeconds",
		Admit: func(_ context.Context, _ *admission.Attributes, pod, _ *core.Pod) error {
			tolerateFor(pod, core.TaintNodeNotReady, s.notReady)
			tolerateFor(pod, core.TaintNodeUnreachable, s.unreachable)
			return nil
		},
	})
}

func tolerateFor(pod *core.Pod, taint string, seconds int64) {
	for _, t := range pod.Spec.Tolerations {
		if (t.Key == taint || t.Key == "") && (t.Effect == core.TaintEffectNoExecute || t.Effect == "") {
			return
		}
	}
	pod.Spec.Tolerations = append(pod.Spec.Tolerations, core.Toleration{
		Key: taint, Operator: core.TolerationOpExists, Effect: core.TaintEffectNoExecute, TolerationSeconds: &seconds,
	})
}
