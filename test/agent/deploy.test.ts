/** The manifests of `agent/deploy` agree with the agent: its variables, ports and routes, and the time that its end takes. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import path from "node:path";
import { fileURLToPath } from "node:url";
import { expect, onTestFinished, test } from "vitest";
import { parse, parseAllDocuments } from "yaml";
import { z } from "zod";
import { environmentVariables, readConfig } from "../../agent/config.ts";
import { ROUTES } from "../../agent/probes.ts";
import { CLOSE_LIMIT_MS, drainLimitMs } from "../../agent/server.ts";
import { STOP_TIMEOUT_MS } from "../../agent/telemetry/sdk.ts";
import { loadTools } from "../../tools/registry.ts";
import { startAgentBench } from "../support/agent-bench.ts";

const project = fileURLToPath(new URL("../..", import.meta.url));
const deploy = path.join(project, "agent/deploy");
const files = readdirSync(deploy, { recursive: true, encoding: "utf8" }).sort();
const read = (file: string) => readFileSync(path.join(deploy, file), "utf8");

const variable = z.object({ name: z.string() });
const probe = z.object({
  httpGet: z.object({ path: z.string(), port: z.string() }),
  periodSeconds: z.number(),
  failureThreshold: z.number(),
});
const restricted = z.object({
  allowPrivilegeEscalation: z.literal(false),
  readOnlyRootFilesystem: z.literal(true),
  capabilities: z.object({ drop: z.tuple([z.literal("ALL")]) }),
});
const podSpec = z.object({
  automountServiceAccountToken: z.literal(false),
  terminationGracePeriodSeconds: z.number(),
  securityContext: z.object({
    runAsNonRoot: z.literal(true),
    runAsUser: z.number().min(1),
    seccompProfile: z.object({ type: z.literal("RuntimeDefault") }),
  }),
  containers: z.tuple([
    z.object({
      env: z.array(variable),
      securityContext: restricted,
      resources: z.object({
        requests: z.object({ cpu: z.string(), memory: z.string() }),
        limits: z.object({ memory: z.string() }),
      }),
    }),
  ]),
});
const deployment = z.object({ spec: z.object({ template: z.object({ spec: podSpec }) }) });
const agentContainer = z.object({
  ports: z.tuple([z.object({ name: z.string(), containerPort: z.number() })]),
  startupProbe: probe,
  readinessProbe: probe,
  livenessProbe: probe,
});
const agentDeployment = z.object({
  spec: z.object({
    template: z.object({
      metadata: z.object({ annotations: z.record(z.string(), z.string()) }),
      spec: z.object({ containers: z.tuple([agentContainer]) }),
    }),
  }),
});

const base = parse(read("base/deployment.yaml"));
const pod = deployment.parse(base).spec.template.spec;
const { metadata, spec: agentSpec } = agentDeployment.parse(base).spec.template;
const [container] = agentSpec.containers;
const settings = variablesOf(read("base/agent.env"));
const config = readConfig({ ...settings, VAPI_API_KEY: "key", NODE_ENV: "production" });

/** Variables of an env file. */
function variablesOf(text: string): Record<string, string> {
  return Object.fromEntries(
    [...text.matchAll(/^([A-Z_]+)=(.*)$/gm)].map(([, name = "", value = ""]) => [name, value]),
  );
}

test("every variable is one of the agent's, of a tool's, or of OpenTelemetry's", async () => {
  const ofTools = (await loadTools())
    .all()
    .flatMap(({ environment }) => Object.keys(environment?.shape ?? {}));
  const known = new Set([...environmentVariables, ...ofTools]);
  const overlay = z.object({ configMapGenerator: z.array(z.object({ literals: z.array(z.string()) })) });
  const { configMapGenerator } = overlay.parse(parse(read("overlays/example/kustomization.yaml")));
  const literals = configMapGenerator.flatMap((each) =>
    each.literals.map((text) => text.split("=")[0] ?? ""),
  );
  const named = [...Object.keys(settings), ...pod.containers[0].env.map(({ name }) => name), ...literals];
  expect(named.length).toBeGreaterThan(8);
  expect(named.filter((name) => !known.has(name) && !name.startsWith("OTEL_"))).toEqual([]);
  // What the example sets is accepted together with the base.
  const together = configMapGenerator.flatMap((each) => each.literals).join("\n");
  expect(() => readConfig({ ...settings, ...variablesOf(together), VAPI_API_KEY: "key" })).not.toThrow();
});

test("the grace period covers the drain time and every limit after it, and hardly more", () => {
  const neededMs = drainLimitMs(config) + CLOSE_LIMIT_MS + STOP_TIMEOUT_MS;
  const graceMs = pod.terminationGracePeriodSeconds * 1000;
  expect(graceMs).toBeGreaterThanOrEqual(neededMs);
  expect(graceMs).toBeLessThan(neededMs + 10_000);
  // A pod that is replaced cuts no call.
  expect(config.drainTimeoutMs).toBeGreaterThanOrEqual(config.maxCallMs);
});

test("a balancer sees a pod go while it still takes calls", () => {
  const { periodSeconds, failureThreshold } = container.readinessProbe;
  expect(periodSeconds * failureThreshold * 1000 * 2).toBeLessThan(config.shutdownDelayMs);
});

test("the port is the image's, and probes and annotations name routes that the agent has", async () => {
  const [{ name, containerPort }] = container.ports;
  expect(readFileSync(path.join(project, "agent/Dockerfile"), "utf8")).toContain(`EXPOSE ${containerPort}\n`);
  expect(readConfig({ VAPI_API_KEY: "key" }).port).toBe(containerPort);
  expect(metadata.annotations["prometheus.io/port"]).toBe(String(containerPort));
  const bench = await startAgentBench();
  onTestFinished(() => bench.stop());
  const probes = [container.startupProbe, container.readinessProbe, container.livenessProbe];
  for (const { httpGet } of probes) {
    expect(httpGet.port).toBe(name);
    expect((await fetch(bench.agent.url + httpGet.path)).status).toBe(200);
  }
  const metrics = await (await fetch(bench.agent.url + metadata.annotations["prometheus.io/path"])).text();
  expect(metrics).toContain("offhook_calls_active 0\n");
});

test("the autoscaler reads a metric that the rule answers, and leaves room below MAX_CALLS", () => {
  const scaler = z.object({
    spec: z.object({
      metrics: z.tuple([
        z.object({
          pods: z.object({
            metric: z.object({ name: z.string() }),
            target: z.object({ averageValue: z.coerce.number() }),
          }),
        }),
      ]),
    }),
  });
  const [{ pods }] = scaler.parse(parse(read("base/autoscaler.yaml"))).spec.metrics;
  expect(pods.metric.name).toBe("offhook_calls_active");
  expect(read("metrics/prometheus-adapter.yaml")).toContain(`name: { as: ${pods.metric.name} }`);
  expect(pods.target.averageValue).toBeLessThan(config.maxCalls);
});

test("the ingress shows nobody anything but /voice and /tool", () => {
  const paths = [...read("overlays/example/ingress.yaml").matchAll(/path: (\S+),/g)].map(([, at = ""]) => at);
  expect(paths).toEqual(["/voice", "/tool"]);
  for (const at of paths) expect(ROUTES.some((route) => route.endsWith(` ${at}`))).toBe(true);
});

test.each(files.filter((file) => path.basename(file) === "deployment.yaml"))(
  "%s runs with no more rights than it needs",
  (file) => {
    expect(() => deployment.parse(parse(read(file)))).not.toThrow();
  },
);

test.each(files.filter((file) => path.basename(file) === "kustomization.yaml"))(
  "%s names files that are there",
  (file) => {
    const kustomization = z.object({
      resources: z.array(z.string()),
      configMapGenerator: z.array(z.object({ envs: z.array(z.string()).default([]) })).default([]),
    });
    const { resources, configMapGenerator } = kustomization.parse(parse(read(file)));
    for (const each of [...resources, ...configMapGenerator.flatMap(({ envs }) => envs)]) {
      expect(existsSync(path.join(deploy, path.dirname(file), each)), each).toBe(true);
    }
  },
);

const hasKubectl = (() => {
  try {
    execFileSync("kubectl", ["version", "--client"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
})();

test.skipIf(!hasKubectl)(
  "kubectl builds the example: every selector finds the pods, and the values are merged",
  () => {
    const output = execFileSync("kubectl", ["kustomize", path.join(deploy, "overlays/example")], {
      encoding: "utf8",
    });
    const found = parseAllDocuments(output).map((document) =>
      z.looseObject({ kind: z.string(), spec: z.unknown().optional() }).parse(document.toJS()),
    );
    const specOf = (kind: string) => found.find((each) => each.kind === kind)?.spec;
    const labels = { "app.kubernetes.io/name": "offhook-agent" };
    expect(specOf("Service")).toMatchObject({ selector: labels });
    expect(specOf("NetworkPolicy")).toMatchObject({ podSelector: { matchLabels: labels } });
    expect(JSON.stringify(specOf("NetworkPolicy"))).toContain(
      '"podSelector":{"matchLabels":{"k8s-app":"kube-dns"}}',
    );
    expect(specOf("PodDisruptionBudget")).toMatchObject({ selector: { matchLabels: labels } });
    expect(specOf("Deployment")).toMatchObject({
      selector: { matchLabels: labels },
      template: { metadata: { labels } },
    });
    expect(specOf("HorizontalPodAutoscaler")).toMatchObject({ minReplicas: 3 });
    const values = found.find(({ kind }) => kind === "ConfigMap");
    expect(values?.data).toMatchObject({ ...settings, PUBLIC_BASE_URL: "https://agent.example.com" });
  },
);
