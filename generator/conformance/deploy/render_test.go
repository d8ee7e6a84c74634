package deploy

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	certmanagerv1 "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	apiregistrationv1 "k8s.io/kube-aggregator/pkg/apis/apiregistration/v1"
	"sigs.k8s.io/kustomize/api/krusty"
	"sigs.k8s.io/kustomize/kyaml/filesys"
	"sigs.k8s.io/yaml"

	"apigen.dev/generator/internal/scaffold"
)

// name is that of the project, of its objects, and of their namespace.
const name = "shop"

// decoder refuses fields that the types of an object don't have.
var decoder = func() runtime.Decoder {
	scheme := runtime.NewScheme()
	for _, add := range []func(*runtime.Scheme) error{
		appsv1.AddToScheme, corev1.AddToScheme, networkingv1.AddToScheme, policyv1.AddToScheme, rbacv1.AddToScheme,
		apiregistrationv1.AddToScheme, certmanagerv1.AddToScheme, monitoringv1.AddToScheme,
	} {
		if err := add(scheme); err != nil {
			panic(err)
		}
	}
	return json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme, scheme,
		json.SerializerOptions{Yaml: true, Strict: true})
}()

// project writes a project with a deployment of these versions, and returns its folder.
func project(t *testing.T, served ...schema.GroupVersion) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if _, err := scaffold.Init(scaffold.Options{
		Dir: dir, Module: "example.com/" + name, Group: "shop.example.com", Version: "v1", Kind: "Widget",
		ApigenVersion: "v0.0.0", GoVersion: "1.26.0", Guest: true,
	}); err != nil {
		t.Fatal(err)
	}
	if _, err := scaffold.Deploy(dir); err != nil {
		t.Fatal(err)
	}
	file, err := scaffold.APIServices(dir, served)
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, file.Path), file.New)
	return dir
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}

var versions = []schema.GroupVersion{
	{Group: "shop.example.com", Version: "v1beta1"}, {Group: "shop.example.com", Version: "v2"},
	{Group: "shop.example.com", Version: "v1"}, {Group: "stock.example.com", Version: "v1alpha1"},
}

// rendered are the objects of a kustomization, by kind.
type rendered map[string][]runtime.Object

// render renders the base of a project with components.
func render(t *testing.T, components ...string) rendered {
	t.Helper()
	return renderIn(t, project(t, versions...), components...)
}

// renderIn renders the base of the project in a folder with components.
func renderIn(t *testing.T, dir string, components ...string) rendered {
	t.Helper()
	path := filepath.Join(dir, "deploy/kustomization.yaml")
	content, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var kustomization map[string]any
	if err := yaml.UnmarshalStrict(content, &kustomization); err != nil {
		t.Fatal(err)
	}
	kustomization["components"] = components
	if content, err = yaml.Marshal(kustomization); err != nil {
		t.Fatal(err)
	}
	write(t, path, content)
	made, err := krusty.MakeKustomizer(krusty.MakeDefaultOptions()).Run(filesys.MakeFsOnDisk(), filepath.Dir(path))
	if err != nil {
		t.Fatal(err)
	}
	out := rendered{}
	for _, resource := range made.Resources() {
		text, err := resource.AsYAML()
		if err != nil {
			t.Fatal(err)
		}
		object, kind, err := decoder.Decode(text, nil, nil)
		if err != nil {
			t.Fatalf("%v\n%s", err, text)
		}
		out[kind.Kind] = append(out[kind.Kind], object)
	}
	return out
}

// only returns the one object of a type.
func only[T runtime.Object](t *testing.T, r rendered) T {
	t.Helper()
	kind := reflect.TypeFor[T]().Elem().Name()
	if len(r[kind]) != 1 {
		t.Fatalf("%d objects of kind %s", len(r[kind]), kind)
	}
	return r[kind][0].(T)
}

// all returns the objects of a type.
func all[T runtime.Object](r rendered) []T {
	var out []T
	for _, object := range r[reflect.TypeFor[T]().Elem().Name()] {
		out = append(out, object.(T))
	}
	return out
}

// choices are the components that fit together, with what runs the server.
var choices = []struct {
	workload   string
	components []string
}{
	{"Deployment", nil},
	{"Deployment", []string{"cert-manager"}},
	{"Deployment", []string{"self-signed"}},
	{"Deployment", []string{"cert-manager", "monitoring"}},
	{"StatefulSet", []string{"embedded"}},
	{"StatefulSet", []string{"embedded", "cert-manager", "monitoring"}},
	{"StatefulSet", []string{"embedded", "self-signed", "monitoring"}},
}

// each renders every choice.
func each(t *testing.T, check func(t *testing.T, r rendered, has func(component string) bool)) {
	t.Helper()
	for _, c := range choices {
		t.Run(c.workload+" "+strings.Join(c.components, " "), func(t *testing.T) {
			r := render(t, c.components...)
			if len(r["Deployment"])+len(r["StatefulSet"]) != 1 || len(r[c.workload]) != 1 {
				t.Errorf("%d Deployments, %d StatefulSets", len(r["Deployment"]), len(r["StatefulSet"]))
			}
			check(t, r, func(component string) bool { return slices.Contains(c.components, component) })
		})
	}
}

// pod returns the pod template of a server, and the selector of its pods.
func pod(t *testing.T, r rendered) (*corev1.PodTemplateSpec, *metav1.LabelSelector) {
	t.Helper()
	if len(r["Deployment"]) > 0 {
		d := only[*appsv1.Deployment](t, r)
		return &d.Spec.Template, d.Spec.Selector
	}
	s := only[*appsv1.StatefulSet](t, r)
	return &s.Spec.Template, s.Spec.Selector
}

// reader is the RoleBinding by which the server reads the authorities of the aggregator.
const reader = name + ":extension-apiserver-authentication-reader"

// TestNamespaces: objects are in the namespace of the project, but for one that the cluster asks for elsewhere.
func TestNamespaces(t *testing.T) {
	clusterScoped := []string{"APIService", "ClusterRole", "ClusterRoleBinding", "Namespace"}
	each(t, func(t *testing.T, r rendered, _ func(string) bool) {
		for kind, objects := range r {
			for _, object := range objects {
				want, meta := name, object.(metav1.Object)
				if slices.Contains(clusterScoped, kind) {
					want = ""
				} else if meta.GetName() == reader {
					want = "kube-system"
				}
				if meta.GetNamespace() != want {
					t.Errorf("%s %s is in namespace %q", kind, meta.GetName(), meta.GetNamespace())
				}
			}
		}
		if namespace := only[*corev1.Namespace](t, r).Name; namespace != name {
			t.Errorf("namespace %s", namespace)
		}
	})
}

// TestAPIServices: each version has one, which names the Service, and the newest stable version of a group comes first.
func TestAPIServices(t *testing.T) {
	each(t, func(t *testing.T, r rendered, has func(string) bool) {
		service := only[*corev1.Service](t, r)
		var got []string
		for _, s := range all[*apiregistrationv1.APIService](r) {
			got = append(got, fmt.Sprint(s.Name, s.Spec.GroupPriorityMinimum, s.Spec.VersionPriority))
			if s.Name != s.Spec.Version+"."+s.Spec.Group || s.Spec.InsecureSkipTLSVerify {
				t.Errorf("%+v", s)
			}
			to := s.Spec.Service
			if to.Name != service.Name || to.Namespace != service.Namespace || *to.Port != service.Spec.Ports[0].Port {
				t.Errorf("%s leads to %+v", s.Name, to)
			}
			if injected := s.Annotations["cert-manager.io/inject-ca-from"]; has("cert-manager") !=
				(injected == "shop/shop-serving") {
				t.Errorf("%s is injected from %q", s.Name, injected)
			}
			if len(s.Spec.CABundle) > 0 { // applying would undo what the server or cert-manager wrote
				t.Errorf("%s has the authority %q", s.Name, s.Spec.CABundle)
			}
		}
		want := []string{
			"v2.shop.example.com1000 100", "v1.shop.example.com1000 99", "v1beta1.shop.example.com1000 98",
			"v1alpha1.stock.example.com1000 100",
		}
		slices.Sort(want)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Errorf("got %q\nwant %q", got, want)
		}
	})
}

// TestReferences: what names another object names one that is there.
func TestReferences(t *testing.T) {
	each(t, func(t *testing.T, r rendered, has func(string) bool) {
		template, selector := pod(t, r)
		service, budget := only[*corev1.Service](t, r), only[*policyv1.PodDisruptionBudget](t, r)
		policy := only[*networkingv1.NetworkPolicy](t, r)
		for _, s := range []*metav1.LabelSelector{
			selector, {MatchLabels: service.Spec.Selector}, budget.Spec.Selector, &policy.Spec.PodSelector,
		} {
			selects, err := metav1.LabelSelectorAsSelector(s)
			if err != nil || selects.Empty() || !selects.Matches(labels.Set(template.Labels)) {
				t.Errorf("%v doesn't select the pods: %v", s, err)
			}
		}
		port := template.Spec.Containers[0].Ports[0].Name
		if got := policy.Spec.Ingress[0].Ports[0].Port.StrVal; got != port {
			t.Errorf("the policy opens %s", got)
		}
		if got := service.Spec.Ports[0].TargetPort.StrVal; got != port {
			t.Errorf("the Service leads to %s", got)
		}
		accounts := []string{}
		for _, account := range all[*corev1.ServiceAccount](r) {
			accounts = append(accounts, account.Name)
		}
		if !slices.Contains(accounts, template.Spec.ServiceAccountName) {
			t.Errorf("no account %s", template.Spec.ServiceAccountName)
		}
		var subjects []rbacv1.Subject
		for _, binding := range all[*rbacv1.RoleBinding](r) {
			subjects = append(subjects, binding.Subjects...)
		}
		for _, binding := range all[*rbacv1.ClusterRoleBinding](r) {
			subjects = append(subjects, binding.Subjects...)
		}
		for _, subject := range subjects {
			if subject.Kind != "ServiceAccount" || subject.Namespace != name ||
				!slices.Contains(accounts, subject.Name) {
				t.Errorf("%+v is no account of the deployment", subject)
			}
		}
		checkSecrets(t, r, has, name+"-serving")
		checkFlags(t, template.Spec, has)
	})
}

// checkFlags: the pod has the flags and the volume of who makes the certificate, and no other ones.
func checkFlags(t *testing.T, pod corev1.PodSpec, has func(string) bool) {
	t.Helper()
	server := pod.Containers[0]
	for flag, component := range map[string]string{
		"--tls-cert-file=/tls/tls.crt": "cert-manager", "--tls-private-key-file=/tls/tls.key": "cert-manager",
		"--cluster-certificate-secret=shop/shop-serving": "self-signed",
		"--cluster-certificate-service=shop/shop":        "self-signed",
	} {
		if slices.Contains(server.Args, flag) != has(component) {
			t.Errorf("the flags are %q", server.Args)
		}
	}
	mounted := slices.ContainsFunc(server.VolumeMounts, func(m corev1.VolumeMount) bool {
		return m.Name == "tls" && m.MountPath == "/tls" && m.ReadOnly
	})
	volume := slices.ContainsFunc(pod.Volumes, func(v corev1.Volume) bool {
		return v.Name == "tls" && v.Secret.SecretName == name+"-serving"
	})
	if mounted != has("cert-manager") || volume != has("cert-manager") {
		t.Errorf("the volumes are %+v, mounted %+v", pod.Volumes, server.VolumeMounts)
	}
}

// TestAuthorityRights: the account may read and update the one Secret, and read and patch the project's APIServices.
func TestAuthorityRights(t *testing.T) {
	each(t, func(t *testing.T, r rendered, has func(string) bool) {
		var services []string
		for _, s := range all[*apiregistrationv1.APIService](r) {
			services = append(services, s.Name)
		}
		want := []rbacv1.PolicyRule{{
			APIGroups: []string{"apiregistration.k8s.io"}, Resources: []string{"apiservices"}, ResourceNames: services,
			Verbs: []string{"get", "patch"},
		}}
		i := slices.IndexFunc(all[*rbacv1.ClusterRole](r), func(c *rbacv1.ClusterRole) bool {
			return c.Name == name+":apiservices"
		})
		if i < 0 || !reflect.DeepEqual(all[*rbacv1.ClusterRole](r)[i].Rules, want) {
			t.Errorf("the ClusterRole is not %+v", want)
		}
		bound := slices.ContainsFunc(all[*rbacv1.ClusterRoleBinding](r), func(b *rbacv1.ClusterRoleBinding) bool {
			return b.RoleRef.Name == name+":apiservices"
		})
		if bound != has("self-signed") || len(r["Role"]) > 0 != has("self-signed") {
			t.Errorf("bound: %t, Roles: %+v", bound, r["Role"])
		}
		if !has("self-signed") {
			return
		}
		role, binding := only[*rbacv1.Role](t, r), ""
		for _, b := range all[*rbacv1.RoleBinding](r) {
			if b.Name != reader {
				binding = b.RoleRef.Name
			}
		}
		want = []rbacv1.PolicyRule{{
			APIGroups: []string{""}, Resources: []string{"secrets"}, ResourceNames: []string{name + "-serving"},
			Verbs: []string{"get", "update"},
		}}
		if binding != role.Name || !reflect.DeepEqual(role.Rules, want) {
			t.Errorf("%s has %+v, and %s is bound", role.Name, role.Rules, binding)
		}
	})
}

// checkSecrets finds who makes the Secret with the certificate.
func checkSecrets(t *testing.T, r rendered, has func(string) bool, secret string) {
	t.Helper()
	var makers []string
	for _, s := range all[*corev1.Secret](r) {
		if s.Name == secret && s.Type == corev1.SecretTypeOpaque && s.Data == nil { // the server fills it
			makers = append(makers, "self-signed")
		}
	}
	for _, c := range all[*certmanagerv1.Certificate](r) {
		if c.Spec.SecretName == secret {
			makers = append(makers, "cert-manager")
			if c.Spec.DNSNames[0] != name+"."+name+".svc" {
				t.Errorf("the certificate is for %v", c.Spec.DNSNames)
			}
		}
		if !slices.ContainsFunc(all[*certmanagerv1.Issuer](r), func(i *certmanagerv1.Issuer) bool {
			return i.Name == c.Spec.IssuerRef.Name
		}) {
			t.Errorf("no issuer %s", c.Spec.IssuerRef.Name)
		}
	}
	for _, component := range []string{"self-signed", "cert-manager"} {
		if has(component) != slices.Contains(makers, component) || len(makers) > 1 {
			t.Errorf("the Secret %s is made by %v", secret, makers)
		}
	}
	if !has("monitoring") {
		return
	}
	endpoint := only[*monitoringv1.ServiceMonitor](t, r).Spec.Endpoints[0]
	if ca := endpoint.TLSConfig.CA.Secret; ca.Name != secret || *endpoint.TLSConfig.ServerName != "shop.shop.svc" {
		t.Errorf("Prometheus believes %+v", ca)
	}
	token := endpoint.Authorization.Credentials
	if !slices.ContainsFunc(all[*corev1.Secret](r), func(s *corev1.Secret) bool {
		return s.Name == token.Name && s.Type == corev1.SecretTypeServiceAccountToken && token.Key == "token"
	}) {
		t.Errorf("no Secret for %+v", token)
	}
}

// TestPod: the Pod Security Standard "restricted" admits the server, and probes ask for what it serves.
func TestPod(t *testing.T) {
	each(t, func(t *testing.T, r rendered, _ func(string) bool) {
		template, _ := pod(t, r)
		own, container := template.Spec.SecurityContext, template.Spec.Containers[0]
		if !*own.RunAsNonRoot || *own.RunAsUser == 0 ||
			own.SeccompProfile.Type != corev1.SeccompProfileTypeRuntimeDefault {
			t.Errorf("%+v", own)
		}
		within := container.SecurityContext
		if *within.AllowPrivilegeEscalation || !*within.ReadOnlyRootFilesystem ||
			!slices.Equal(within.Capabilities.Drop, []corev1.Capability{"ALL"}) {
			t.Errorf("%+v", within)
		}
		if len(container.Resources.Requests) != 2 {
			t.Errorf("%+v", container.Resources)
		}
		for path, probe := range map[string]*corev1.Probe{
			"/livez": container.LivenessProbe, "/readyz": container.ReadinessProbe,
		} {
			if get := probe.HTTPGet; get.Path != path || get.Scheme != "HTTPS" || get.Port.StrVal != "https" {
				t.Errorf("%+v", get)
			}
		}
		if container.Image != "registry.example.com/shop:latest" {
			t.Errorf("image %s", container.Image)
		}
		if got := only[*corev1.Namespace](t, r).Labels["pod-security.kubernetes.io/enforce"]; got != "restricted" {
			t.Errorf("the namespace enforces %s", got)
		}
	})
}

// TestEmbedded: the pods of the Deployment and of the StatefulSet differ in their storage alone.
func TestEmbedded(t *testing.T) {
	with, _ := pod(t, render(t))
	embedded := render(t, "embedded")
	within, _ := pod(t, embedded)
	claims := only[*appsv1.StatefulSet](t, embedded).Spec.VolumeClaimTemplates
	if len(claims) != 1 || claims[0].Name != "data" {
		t.Errorf("%+v", claims)
	}
	server := &with.Spec.Containers[0]
	before := len(server.Args)
	server.Args = slices.DeleteFunc(server.Args, func(arg string) bool {
		return strings.HasPrefix(arg, "--etcd-servers=")
	})
	if before-len(server.Args) != 1 {
		t.Error("the Deployment names no etcd cluster")
	}
	with.Spec.TopologySpreadConstraints = nil
	with.Spec.Volumes = slices.DeleteFunc(with.Spec.Volumes, func(v corev1.Volume) bool { return v.Name == "data" })
	if len(with.Spec.Volumes) == 0 {
		with.Spec.Volumes = nil
	}
	if !reflect.DeepEqual(with, within) {
		t.Errorf("got %+v\nwant %+v", within, with)
	}
}
