/** Datasets: choose an environment and a service, see what it holds, give it a file. */
import "./datasets.css";
import { useId } from "preact/hooks";
import { read } from "../api/client.ts";
import { useResource } from "../api/resource.ts";
import { place, setQuery } from "../place.ts";
import { Empty, Failure, Loading } from "../ui/feedback.tsx";
import { ChoiceField, Field } from "../ui/field.tsx";
import { Heading } from "../ui/layout.tsx";
import { Description } from "./description.tsx";
import {
  type DatasetPlace,
  type DatasetWithSample,
  datasetPath,
  type Environment,
  readEnvironments,
} from "./types.ts";
import { UploadForm } from "./upload-form.tsx";

export function Datasets() {
  const environments = useResource("environments", readEnvironments);
  const { data, error, reload } = environments;
  return (
    <>
      <Heading title="Datasets" />
      {error ? <Failure error={error} retry={reload} /> : null}
      {data ? <ChosenDataset environments={data} onChanged={reload} /> : null}
      {data || error ? null : <Loading />}
    </>
  );
}

function ChosenDataset(props: { environments: readonly Environment[]; onChanged(): void }) {
  const { query, sandbox } = place.value;
  const { environments } = props;
  const ofSandbox = environments.find(({ sandboxes }) => sandboxes.includes(sandbox));
  const name = query.get("environment") ?? ofSandbox?.name ?? environments[0]?.name ?? "";
  const environment = environments.find((each) => each.name === name);
  const services = (environment ?? environments[0])?.services.map((each) => each.name) ?? [];
  const service = query.get("service") ?? services[0];
  return (
    <>
      {service === undefined ? (
        <Empty>No service here takes a dataset: elasticsearch and splunk do.</Empty>
      ) : (
        <>
          <Choice {...{ environments, services, service }} environment={name} />
          <DatasetOf
            key={`${name}/${service}`}
            environment={name}
            service={service}
            sandboxes={environment?.sandboxes ?? []}
            createdAt={environment?.services.find((each) => each.name === service)?.dataset?.created_at}
            onChanged={props.onChanged}
          />
        </>
      )}
    </>
  );
}

interface ChoiceProps extends DatasetPlace {
  environments: readonly Environment[];
  services: readonly string[];
}

function Choice({ environments, services, environment, service }: ChoiceProps) {
  const listId = useId();
  return (
    <div class="toolbar">
      <Field label="Environment">
        {(control) => (
          <input
            {...control}
            list={listId}
            value={environment}
            onChange={({ currentTarget }) => setQuery({ environment: currentTarget.value.trim() })}
          />
        )}
      </Field>
      <datalist id={listId}>
        {environments.map(({ name }) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <ChoiceField
        label="Service"
        value={service}
        options={services}
        onChoose={(chosen) => setQuery({ service: chosen })}
      />
    </div>
  );
}

interface DatasetOfProps extends DatasetPlace {
  sandboxes: readonly string[];
  /** Of the dataset that is there; `undefined`: there is none. */
  createdAt: string | undefined;
  onChanged(): void;
}

function DatasetOf({ environment, service, sandboxes, createdAt, onChanged }: DatasetOfProps) {
  const path = datasetPath({ environment, service });
  const key = createdAt && `${path} ${createdAt}`;
  const dataset = useResource(key, (signal) => read<DatasetWithSample>(path, signal));
  return (
    <>
      <UploadForm {...{ environment, service, sandboxes }} onChanged={onChanged} />
      {dataset.error ? <Failure error={dataset.error} retry={dataset.reload} /> : null}
      {dataset.isLoading ? <Loading /> : null}
      {createdAt ? null : (
        <Empty>
          {service} has no dataset in environment {environment}: upload a file.
        </Empty>
      )}
      {createdAt && dataset.data ? (
        <Description {...{ environment, service, sandboxes }} dataset={dataset.data} onChanged={onChanged} />
      ) : null}
    </>
  );
}
