package projects

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// project is a module, and what is known of it.
type project struct {
	name, module, version string
	// toolchain is the Go release that the module's go.mod asks for; "" is the one that runs the test.
	toolchain string
	// long: it takes minutes to compile, so that it runs with APIGEN_LONG alone.
	long bool
	// serve are packages of the module, without its path, that a project of its own serves; none: the module itself is
	// made to serve its kinds, which needs all that it requires, and all that its tests require.
	serve []string
	// edits are changes of the project's files that apigen's messages ask for.
	edits []edit
	// marks are changes of the files that apigen init writes: markers that apigen build asks for.
	marks []edit
	// untidy is what go mod tidy says of packages that only tests of dependencies import, and that the aligned modules
	// no longer have. The project is then tidied but for those.
	untidy string
	// manifests is the module with the samples, and its version; "" is the module itself.
	manifests string
	// samples are folders with manifests.
	samples []string
	// kinds are the resources that are served: the plural and the group.
	kinds []string
	// refused are files with samples that the server refuses, and a part of what it says of each; parts of several
	// samples of a file stand with " | " between them.
	refused map[string]string
	// least is how many samples are accepted.
	least int
	// faulty is what the generated test says of a sample in the project's own config/samples; "" if it passes.
	faulty string
}

type edit struct{ file, old, new string }

// custom says of the kinds of a package that they are custom resources, which their own markers leave open.
func custom(dir string) edit {
	name := "package " + path.Base(dir) + "\n"
	return edit{dir + "/doc.go", name, `// +apigen:kind("*")=+kubebuilder:object:root=true` + "\n" + name}
}

// Reasons for which Tekton's own validation refuses its samples.
const (
	artifacts = "feature flag enable-artifacts should be set to true to use artifacts feature"
	enum      = "feature flag `enable-param-enum` should be set to true to use Enum"
	cel       = "feature flag enable-cel-in-whenexpression should be set to true"
	alpha     = `requires "enable-api-fields" feature gate to be "alpha"`
)

var projects = []project{
	{
		// Velero's module requires the clients of three clouds and a fork of kopia; its types need Kubernetes' alone.
		name: "velero", module: "github.com/vmware-tanzu/velero", version: "v1.18.3",
		serve:   []string{"pkg/apis/velero/v1", "pkg/apis/velero/v2alpha1"},
		samples: []string{"tilt-resources", "site/content/docs/v1.18"},
		kinds: []string{
			"backuprepositories.velero.io", "backups.velero.io", "backupstoragelocations.velero.io",
			"datadownloads.velero.io", "datauploads.velero.io", "deletebackuprequests.velero.io",
			"downloadrequests.velero.io", "podvolumebackups.velero.io", "podvolumerestores.velero.io",
			"restores.velero.io", "schedules.velero.io", "serverstatusrequests.velero.io",
			"volumesnapshotlocations.velero.io",
		},
		// Velero's manual writes {} for a list of resources, and "" for a phase. Its custom resource definitions, which
		// have no status subresource, refuse that, too.
		refused: map[string]string{
			"api-types/backup.md":   "BackupSpec.spec.excludedClusterScopedResources of type []string",
			"api-types/restore.md":  `status.phase: Unsupported value: ""`,
			"api-types/schedule.md": "BackupSpec.spec.template.excludedClusterScopedResources of type []string",
		},
		least: 13,
	},
	{
		// Its kinds have no marker that makes them controller-gen's.
		name: "cert-manager", module: "github.com/cert-manager/cert-manager", version: "v1.21.2",
		serve:   []string{"pkg/apis/certmanager/v1", "pkg/apis/acme/v1"},
		marks:   []edit{custom("apis/certmanager/v1"), custom("apis/acme/v1")},
		samples: []string{"test/fixtures", "design"},
		kinds: []string{
			"certificaterequests.cert-manager.io", "certificates.cert-manager.io", "challenges.acme.cert-manager.io",
			"clusterissuers.cert-manager.io", "issuers.cert-manager.io", "orders.acme.cert-manager.io",
		},
		refused: map[string]string{"20220720-per-certificate-owner-ref.md": "spec.issuerRef: Required value"},
		least:   3,
	},
	{
		name: "gateway-api", module: "sigs.k8s.io/gateway-api", version: "v1.6.0",
		serve:   []string{"apis/v1", "apis/v1beta1"},
		samples: []string{"examples"},
		kinds: []string{
			"backendtlspolicies." + gatewayAPI, "gatewayclasses." + gatewayAPI, "gateways." + gatewayAPI,
			"grpcroutes." + gatewayAPI, "httproutes." + gatewayAPI, "listenersets." + gatewayAPI,
			"referencegrants." + gatewayAPI, "tcproutes." + gatewayAPI, "tlsroutes." + gatewayAPI,
			"udproutes." + gatewayAPI,
		},
		least: 101,
	},
	{
		// Neither have its kinds. The module with the samples can't be had in the version of the types.
		name:    "prometheus-operator",
		module:  "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring",
		version: "v0.95.2", serve: []string{"v1", "v1alpha1", "v1beta1"},
		manifests: "github.com/prometheus-operator/prometheus-operator@v0.85.0",
		marks: []edit{
			custom("apis/monitoring/v1"), custom("apis/monitoring/v1alpha1"), custom("apis/monitoring/v1beta1"),
		},
		samples: []string{"example", "Documentation/developer", "Documentation/platform", "Documentation/user-guides"},
		kinds: []string{
			"alertmanagerconfigs.monitoring.coreos.com", "alertmanagers.monitoring.coreos.com",
			"podmonitors.monitoring.coreos.com", "probes.monitoring.coreos.com",
			"prometheusagents.monitoring.coreos.com", "prometheuses.monitoring.coreos.com",
			"prometheusrules.monitoring.coreos.com", "scrapeconfigs.monitoring.coreos.com",
			"servicemonitors.monitoring.coreos.com", "thanosrulers.monitoring.coreos.com",
		},
		// Parts of objects, and placeholders. The project's own definitions refuse them, too.
		refused: map[string]string{
			"user-guides/scrapeclass/scrapeclass-example-definition.yaml":     "metadata.name: Required value",
			"user-guides/scrapeclass/scrapeclass-example-podmonitor.yaml":     "spec.selector: Required value",
			"user-guides/scrapeclass/scrapeclass-example-servicemonitor.yaml": "spec.selector: Required value",
			"scrapeclass.md":           "spec.selector: Required value",
			"strategic-merge-patch.md": "metadata.name: Invalid value",
			"troubleshooting.md":       "spec.remoteWrite[0].url in body should match",
			"running-exporters.md":     `unknown field "spec.endpoints"`,
		},
		least: 60,
	},
	{
		// Its kinds are of one version, and each is in a package of its own. Its definitions have no schemas, so that
		// they accept a set that has an element twice.
		name: "katib", module: "github.com/kubeflow/katib", version: "v0.19.0",
		serve: []string{
			"pkg/apis/controller/experiments/v1beta1", "pkg/apis/controller/suggestions/v1beta1",
			"pkg/apis/controller/trials/v1beta1",
		},
		marks: []edit{
			custom("apis/kubeflow/v1beta1"), custom("apis/kubeflow/suggestions/v1beta1"),
			custom("apis/kubeflow/trials/v1beta1"),
		},
		samples: []string{"examples/v1beta1"},
		kinds:   []string{"experiments.kubeflow.org", "suggestions.kubeflow.org", "trials.kubeflow.org"},
		refused: map[string]string{
			"nas/enas-cpu.yaml": "spec.nasConfig.graphConfig.inputSizes[1]: Duplicate value: 32",
			"nas/enas-gpu.yaml": "spec.nasConfig.graphConfig.inputSizes[1]: Duplicate value: 32",
		},
		least: 31,
	},
	{
		name: "kueue", module: "sigs.k8s.io/kueue", version: "v0.17.0", long: true,
		serve:   []string{"apis/kueue/v1beta1", "apis/kueue/v1beta2"},
		samples: []string{"cmd", "config", "test/e2e"},
		kinds: []string{
			"admissionchecks.kueue.x-k8s.io", "clusterqueues.kueue.x-k8s.io", "cohorts.kueue.x-k8s.io",
			"localqueues.kueue.x-k8s.io", "multikueueclusters.kueue.x-k8s.io", "multikueueconfigs.kueue.x-k8s.io",
			"provisioningrequestconfigs.kueue.x-k8s.io", "resourceflavors.kueue.x-k8s.io",
			"topologies.kueue.x-k8s.io", "workloadpriorityclasses.kueue.x-k8s.io", "workloads.kueue.x-k8s.io",
		},
		least: 18,
	},
	{
		name: "argo-workflows", module: "github.com/argoproj/argo-workflows/v4", version: "v4.0.5", long: true,
		serve:   []string{"pkg/apis/workflow/v1alpha1"},
		samples: []string{"examples"},
		kinds: []string{
			"clusterworkflowtemplates.argoproj.io", "cronworkflows.argoproj.io", "workflowartifactgctasks.argoproj.io",
			"workfloweventbindings.argoproj.io", "workflows.argoproj.io", "workflowtaskresults.argoproj.io",
			"workflowtasksets.argoproj.io", "workflowtemplates.argoproj.io",
		},
		// They have no name.
		refused: map[string]string{
			"fun-with-gifs.yaml": "metadata.name: Required value",
			"k8s-jobs.yaml":      "metadata.name: Required value",
		},
		least: 200,
	},
	{
		name: "cluster-api", module: "sigs.k8s.io/cluster-api/api", version: "v1.14.2",
		serve: []string{"core/v1beta2"},
		kinds: []string{
			"clusterclasses.cluster.x-k8s.io", "clusters.cluster.x-k8s.io", "machinedeployments.cluster.x-k8s.io",
			"machinedrainrules.cluster.x-k8s.io", "machinehealthchecks.cluster.x-k8s.io",
			"machinepools.cluster.x-k8s.io", "machines.cluster.x-k8s.io", "machinesets.cluster.x-k8s.io",
		},
	},
	{
		// Knative's module requires more of clouds than its types do.
		name: "serving", module: "knative.dev/serving", version: "v0.42.2",
		serve: []string{
			"pkg/apis/serving/v1", "pkg/apis/serving/v1beta1", "pkg/apis/autoscaling/v1alpha1",
		},
		samples: []string{"test", "config", "docs"},
		kinds: []string{
			"configurations.serving.knative.dev", "domainmappings.serving.knative.dev",
			"metrics.autoscaling.internal.knative.dev", "podautoscalers.autoscaling.internal.knative.dev",
			"revisions.serving.knative.dev", "routes.serving.knative.dev", "services.serving.knative.dev",
		},
		// Knative's own validation refuses features that are off until a config map of the cluster turns them on.
		refused: map[string]string{
			"test_images/initcontainers/service.yaml": "pod spec support for init-containers is off",
			"test_images/volumes/service-pvc.yaml":    "Persistent volume claim support is disabled",
		},
		least: 28,
	},
	{
		name: "kuberay", module: "github.com/ray-project/kuberay/ray-operator", version: "v1.5.0",
		serve: []string{"apis/ray/v1", "apis/ray/v1alpha1"},
		// Its definitions have no conversion, so that a cluster prunes the fields that v1alpha1 doesn't have.
		marks: []edit{{
			"apis/ray/v1alpha1/doc.go", "package v1alpha1\n", "//\n// +apigen:conversion:prune\npackage v1alpha1\n",
		}},
		samples: []string{"config/samples"},
		kinds:   []string{"rayclusters.ray.io", "rayjobs.ray.io", "rayservices.ray.io"},
		least:   67,
	},
	{
		// The types lie beside functions that call controller-runtime as it was before the release that fits to
		// Kubernetes 1.37. Version v1beta1 loses fields of v1, and External Secrets no longer serves it.
		name: "external-secrets", module: "github.com/external-secrets/external-secrets", version: "v0.18.2",
		serve: []string{"apis/externalsecrets/v1", "apis/externalsecrets/v1alpha1", "apis/generators/v1alpha1"},
		edits: []edit{
			{
				"apis/externalsecrets/v1/externalsecret_webhook.go",
				"mgr).\n\t\tFor(es).\n\t\tWithV", "mgr, es).WithCustomV",
			},
			{"apis/externalsecrets/v1/secretstore_webhook.go", "mgr).\n\t\tFor(c).\n\t\tWithV", "mgr, c).WithCustomV"},
			{"apis/externalsecrets/v1/secretstore_webhook.go", "mgr).\n\t\tFor(c).\n\t\tWithV", "mgr, c).WithCustomV"},
		},
		samples: []string{"docs"},
		kinds: []string{
			"acraccesstokens.generators.external-secrets.io", "clusterexternalsecrets.external-secrets.io",
			"clustergenerators.generators.external-secrets.io", "clusterpushsecrets.external-secrets.io",
			"clustersecretstores.external-secrets.io", "ecrauthorizationtokens.generators.external-secrets.io",
			"externalsecrets.external-secrets.io", "fakes.generators.external-secrets.io",
			"gcraccesstokens.generators.external-secrets.io", "generatorstates.generators.external-secrets.io",
			"githubaccesstokens.generators.external-secrets.io", "grafanas.generators.external-secrets.io",
			"mfas.generators.external-secrets.io", "passwords.generators.external-secrets.io",
			"pushsecrets.external-secrets.io", "quayaccesstokens.generators.external-secrets.io",
			"secretstores.external-secrets.io", "stssessiontokens.generators.external-secrets.io",
			"uuids.generators.external-secrets.io", "vaultdynamicsecrets.generators.external-secrets.io",
			"webhooks.generators.external-secrets.io",
		},
		// The manual has placeholders where names belong, values of other types than their fields', and fields of
		// earlier versions. It leaves out fields that the project's own definitions require.
		refused: map[string]string{
			"guides/security-best-practices.md":                    "spec.provider: Required value",
			"provider/azure-key-vault.md":                          "azurekv.vaultUrl: Required value",
			"provider/chef.md":                                     "spec.target.name in body should match",
			"provider/delinea.md":                                  "_KUBE_SECRET>",
			"provider/device42.md":                                 "in body should match",
			"provider/fortanix.md":                                 "_KUBE_SECRET>",
			"provider/google-secrets-manager.md":                   "spec.selector: Required value",
			"provider/kubernetes.md":                               "spec.selector: Required value",
			"provider/pulumi.md":                                   "_KUBE_SECRET>",
			"provider/scaleway.md":                                 "_KUBE_SECRET>",
			"provider/secretserver.md":                             "<NAME_OF_K8S_SECRET>",
			"provider/webhook.md":                                  "illegal base64 data",
			"snippets/full-cluster-secret-store.yaml":              "illegal base64 data",
			"snippets/full-secret-store.yaml":                      "illegal base64 data",
			"snippets/gcpsm-sa-secret-store.yaml":                  "projectID of type string",
			"snippets/gcpsm-wif-core-controller-secret-store.yaml": "projectID of type string",
			"snippets/gcpsm-wif-iam-secret-store.yaml":             "clusterLocation of type string",
			"snippets/gcpsm-wif-sa-secret-store.yaml":              "clusterLocation of type string",
			"snippets/generator-gcr.yaml":                          "serviceAccountRef.name in body should be at least",
			"snippets/github-push-secret.yaml":                     "EXTSERCRET",
			"snippets/github-secret-store.yaml":                    "github.appID of type int64",
			"snippets/gitlab-secret-store.yaml":                    "gitlab.groupIDs of type []string",
			"snippets/ibm-secret-store.yaml":                       "spec.provider.ibm.auth: Too many: 2",
			"snippets/onboardbase-generic-secret-store.yaml":       "unknown field",
			"snippets/oracle-instance-principal.yaml":              "oracle.region: Required value",
			"snippets/oracle-principal-type.yaml":                  "Unsupported value",
			"snippets/oracle-secret-store-pushsecret.yaml":         "oracle.region: Required value",
			"snippets/oracle-secret-store.yaml":                    "oracle.auth.tenancy: Required value",
			"snippets/oracle-workload-identity.yaml":               "serviceAccountRef.name: Required value",
			"snippets/vault-mtls-store.yaml":                       "vault.auth of type v1.VaultAuth",
		},
		least: 172,
	},
	{
		// Its status has a default of its own, whose members have none.
		name: "source-controller", module: "github.com/fluxcd/source-controller/api", version: "v1.6.2",
		serve: []string{"v1"}, manifests: "github.com/fluxcd/source-controller@v1.8.0",
		samples: []string{"config/samples"},
		kinds: []string{
			"buckets.source.toolkit.fluxcd.io", "gitrepositories.source.toolkit.fluxcd.io",
			"helmcharts.source.toolkit.fluxcd.io", "helmrepositories.source.toolkit.fluxcd.io",
			"ocirepositories.source.toolkit.fluxcd.io",
		},
		least: 5,
	},
	{
		// It brings functions of defaulter-gen, which don't know controller-gen's markers.
		name: "trainer", module: "github.com/kubeflow/trainer/v2", version: "v2.0.0",
		serve: []string{"pkg/apis/trainer/v1alpha1"}, samples: []string{"manifests"},
		kinds: []string{
			"clustertrainingruntimes.trainer.kubeflow.org", "trainingruntimes.trainer.kubeflow.org",
			"trainjobs.trainer.kubeflow.org",
		},
		least: 5,
	},
	{
		// Its lists have tags for strategic merge patches, and no list types.
		name: "kwok", module: "sigs.k8s.io/kwok", version: "v0.8.0",
		serve: []string{"pkg/apis/v1alpha1"}, marks: []edit{custom("apis/kwok/v1alpha1")},
		samples: []string{"kustomize"},
		kinds: []string{
			"attaches.kwok.x-k8s.io", "clusterattaches.kwok.x-k8s.io", "clusterexecs.kwok.x-k8s.io",
			"clusterlogs.kwok.x-k8s.io", "clusterportforwards.kwok.x-k8s.io", "clusterresourceusages.kwok.x-k8s.io",
			"execs.kwok.x-k8s.io", "logs.kwok.x-k8s.io", "metrics.kwok.x-k8s.io", "portforwards.kwok.x-k8s.io",
			"resourceusages.kwok.x-k8s.io", "stages.kwok.x-k8s.io",
		},
		least: 5,
	},
	{
		// Its conversion webhook loses fields of v1beta2.
		name: "metallb", module: "go.universe.tf/metallb", version: "v0.16.2",
		serve: []string{"api/v1beta1", "api/v1beta2"},
		marks: []edit{{
			"apis/metallb/v1beta1/doc.go", "package v1beta1\n", "//\n// +apigen:conversion:prune\npackage v1beta1\n",
		}},
		samples: []string{"configsamples"},
		kinds: []string{
			"bfdprofiles.metallb.io", "bgpadvertisements.metallb.io", "bgppeers.metallb.io", "communities.metallb.io",
			"configurationstates.metallb.io", "ipaddresspools.metallb.io", "l2advertisements.metallb.io",
			"servicebgpstatuses.metallb.io", "servicel2statuses.metallb.io",
		},
		least: 26,
	},
	{
		// Its types have methods for protobuf, and are custom resources.
		name: "argo-rollouts", module: "github.com/argoproj/argo-rollouts", version: "v1.8.3", long: true,
		serve: []string{"pkg/apis/rollouts/v1alpha1"}, marks: []edit{custom("apis/argoproj/v1alpha1")},
		samples: []string{"examples"},
		kinds: []string{
			"analysisruns.argoproj.io", "analysistemplates.argoproj.io", "clusteranalysistemplates.argoproj.io",
			"experiments.argoproj.io", "rollouts.argoproj.io",
		},
		least: 28,
	},
	{
		name: "kubevirt", module: "kubevirt.io/api", version: "v1.6.0",
		serve: []string{
			"core/v1", "instancetype/v1beta1", "pool/v1alpha1", "migrations/v1alpha1", "snapshot/v1beta1",
			"export/v1beta1", "clone/v1beta1",
		},
		manifests: "kubevirt.io/kubevirt@v1.6.0", samples: []string{"examples"},
		kinds: []string{
			"kubevirts.kubevirt.io", "migrationpolicies.migrations.kubevirt.io",
			"virtualmachineclones.clone.kubevirt.io", "virtualmachineclusterinstancetypes.instancetype.kubevirt.io",
			"virtualmachineclusterpreferences.instancetype.kubevirt.io", "virtualmachineexports.export.kubevirt.io",
			"virtualmachineinstancemigrations.kubevirt.io", "virtualmachineinstancepresets.kubevirt.io",
			"virtualmachineinstancereplicasets.kubevirt.io", "virtualmachineinstances.kubevirt.io",
			"virtualmachineinstancetypes.instancetype.kubevirt.io", "virtualmachinepools.pool.kubevirt.io",
			"virtualmachinepreferences.instancetype.kubevirt.io", "virtualmachinerestores.snapshot.kubevirt.io",
			"virtualmachines.kubevirt.io", "virtualmachinesnapshotcontents.snapshot.kubevirt.io",
			"virtualmachinesnapshots.snapshot.kubevirt.io",
		},
		least: 44,
	},
	{
		// The types lie beside functions that need half of Argo CD, and with it k8s.io/kubernetes. The folder
		// docs/proposals is left out: many of its fields never came to be.
		name: "argo-cd", module: "github.com/argoproj/argo-cd/v3", version: "v3.6.1", toolchain: "go1.27.0",
		long:  true,
		serve: []string{"pkg/apis/application/v1alpha1"},
		samples: []string{
			"applicationset/examples", "docs/operator-manual", "docs/user-guide", "examples", "manifests",
			"resource_customizations/argoproj.io", "test",
		},
		kinds: []string{"applications.argoproj.io", "applicationsets.argoproj.io", "appprojects.argoproj.io"},
		// Argo CD's own definitions refuse these, too: placeholders, values of another type, unknown fields.
		refused: map[string]string{
			"app-sync-using-impersonation.md":        "spec.destinations of type v1alpha1.ApplicationDestination",
			"applicationset.yaml":                    `unknown field "spec.generators[4].configMapRef"`,
			"applicationset/Appset-Any-Namespace.md": `namespaces "appNs" not found | spec.generators of type`,
			"applicationset/Generators-Plugin.md":    "of type v1alpha1.PullRequestGeneratorGithub",
			"cluster-bootstrapping.md":               "Application.spec of type v1alpha1.ApplicationSpec",
			"design-doc/proposal/filters.yaml":       `unknown field "spec.generators[0].clusters.filters"`,
			"sync-kubectl.md":                        "Application.spec of type v1alpha1.ApplicationSpec",
		},
		least: 168,
	},
	{
		name: "keda", module: "github.com/kedacore/keda/v2", version: "v2.21.0",
		samples: []string{"config/samples"},
		kinds: []string{
			"cloudeventsources.eventing.keda.sh", "clustercloudeventsources.eventing.keda.sh",
			"clustertriggerauthentications.keda.sh", "scaledjobs.keda.sh", "scaledobjects.keda.sh",
			"triggerauthentications.keda.sh",
		},
		// The template is a comment, and the project's own definition requires it.
		refused: map[string]string{"keda_v1alpha1_scaledjob.yaml": "spec.jobTargetRef.template: Required value"},
		faulty: `the server refuses the ScaledJob "scaledjob-sample" of config/samples, which needs to be mended: ` +
			`ScaledJob.keda.sh "scaledjob-sample" is invalid: spec.jobTargetRef.template: Required value`,
		least: 5,
	},
	{
		name: "tekton", module: "github.com/tektoncd/pipeline", version: "v1.6.0",
		// Two packages declare version v1alpha1 of the group. Tekton has no custom resource for the kind of this one.
		edits:   []edit{{"pkg/apis/resource/v1alpha1/doc.go", "// +groupName=tekton.dev\n", "//\n"}},
		untidy:  "k8s.io/client-go/listers/autoscaling/v2beta1: module k8s.io/client-go@latest found",
		samples: []string{"examples/v1"},
		kinds: []string{
			"customruns.tekton.dev", "pipelineruns.tekton.dev", "pipelines.tekton.dev", "runs.tekton.dev",
			"stepactions.tekton.dev", "taskruns.tekton.dev", "tasks.tekton.dev", "verificationpolicies.tekton.dev",
			"resolutionrequests.resolution.tekton.dev",
		},
		// The project's own validation refuses features in alpha until a config map of the cluster turns them on. The
		// isolated workspaces have a field mountpath, which Tekton's webhook takes for mountPath.
		refused: map[string]string{
			"pipelineruns/alpha/consume-artifacts-from-task.yaml":           artifacts,
			"pipelineruns/alpha/param-enum.yaml":                            enum,
			"pipelineruns/alpha/pipelinerun-with-cel-when-expressions.yaml": cel,
			"pipelineruns/beta/isolated-workspaces.yaml":                    `steps[0].workspaces[0].mountpath"`,
			"taskruns/alpha/param-enum.yaml":                                enum,
			"taskruns/alpha/produce-consume-artifacts.yaml":                 artifacts,
			"taskruns/alpha/step-stream-results.yaml":                       alpha,
			"taskruns/alpha/step-stream-volumes.yaml":                       alpha,
			"taskruns/alpha/step-stream-workspace.yaml":                     alpha,
			"taskruns/alpha/task-artifacts.yaml":                            artifacts,
		},
		least: 240,
	},
}

// TestProjects: a project's kinds are served from where they are, by the steps that apigen prints, and the server
// accepts the project's own samples.
func TestProjects(t *testing.T) {
	if testing.Short() {
		t.Skip("builds servers of real projects")
	}
	apigen := buildApigen(t)
	for _, p := range projects {
		t.Run(p.name, func(t *testing.T) {
			if p.long && os.Getenv("APIGEN_LONG") == "" {
				t.Skip("takes minutes to compile: make test-long runs it")
			}
			if p.toolchain != "" {
				t.Setenv("GOTOOLCHAIN", p.toolchain)
			}
			dir, samples, command := p.adopt(t, apigen)
			p.testRequests(t, dir)
			if known := differences[p.name]; known != nil {
				p.testKinds(t, dir, samples, known)
			}
			s := start(t, dir, command)
			if kinds := s.kinds(t); !slices.Equal(kinds, slices.Sorted(slices.Values(p.kinds))) {
				t.Errorf("serves %v", kinds)
			}
			p.apply(t, s, samples)
		})
	}
}

// testRequests runs the generated test that sends requests about each kind, which passes without a change.
func (p project) testRequests(t *testing.T, dir string) {
	t.Helper()
	found := 0
	err := filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err != nil || filepath.Base(path) != "zz_generated.requests_test.go" {
			return err
		}
		found++
		said, err := run(t, filepath.Dir(path), "go", "test", "-run", "^TestRequests$", ".")
		if failed := err != nil; failed != (p.faulty != "") || !strings.Contains(said, p.faulty) {
			t.Errorf("the generated test: %v\n%s", err, said)
		}
		return nil
	})
	if err != nil || found == 0 {
		t.Errorf("%d generated tests, %v", found, err)
	}
}

// apply creates the samples of the project's kinds, and compares what the server says with what is expected.
func (p project) apply(t *testing.T, s *server, dir string) {
	accepted, refused, others, unreadable, seen := 0, 0, 0, 0, map[string]bool{}
	for _, folder := range p.samples {
		found, not := manifests(t, filepath.Join(dir, filepath.FromSlash(folder)))
		unreadable += not
		for _, m := range found {
			switch answer, served := s.create(t, m); {
			case !served:
				others++
			case answer == "":
				accepted++
			default:
				refused++
				seen[m.file] = true
				if !p.explains(m.file, answer) {
					t.Errorf("%s: %s", m, answer)
				}
			}
		}
	}
	t.Logf("%d samples accepted, %d refused; %d of kinds of others, %d no YAML", accepted, refused, others, unreadable)
	for file := range p.refused {
		if !seen[file] {
			t.Errorf("all samples of %s are accepted, or it is gone", file)
		}
	}
	if accepted < p.least {
		t.Errorf("%d samples accepted, not %d", accepted, p.least)
	}
}

// explains reports whether an answer is one that is expected for a sample of the file.
func (p project) explains(file, answer string) bool {
	parts, ok := p.refused[file]
	return ok && slices.ContainsFunc(strings.Split(parts, " | "), func(part string) bool {
		return strings.Contains(answer, part)
	})
}
