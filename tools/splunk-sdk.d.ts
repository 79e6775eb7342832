/** The part of the vendor's client, which has no types of its own, that this project uses. */
declare module "splunk-sdk" {
  // biome-ignore lint/suspicious/noExplicitAny: what the vendor's server answers
  type Answered = any;
  type Given = Record<string, unknown>;

  class Entity {
    name: string;
    properties(): Answered;
    acl(): Answered;
    links(): Answered;
    fetch(options?: Given): Promise<this>;
    update(properties: Given): Promise<this>;
    remove(): Promise<unknown>;
    enable(): Promise<unknown>;
    disable(): Promise<unknown>;
    reload(): Promise<unknown>;
    acl_update(options: Given): Promise<unknown>;
  }

  class Collection<Item extends Entity> {
    fetch(options?: Given): Promise<this>;
    item(name: string): Item | null;
    list(): Item[];
    create(properties: Given): Promise<Item>;
  }

  class Job extends Entity {
    sid: string;
    cancel(): Promise<Answered>;
    pause(): Promise<Answered>;
    unpause(): Promise<Answered>;
    finalize(): Promise<Answered>;
    touch(): Promise<Answered>;
    setTTL(seconds: number): Promise<Answered>;
    setPriority(priority: number): Promise<Answered>;
    enablePreview(): Promise<Answered>;
    disablePreview(): Promise<Answered>;
    results(options?: Given): Promise<[Answered, Job]>;
    preview(options?: Given): Promise<[Answered, Job]>;
    events(options?: Given): Promise<[Answered, Job]>;
    summary(options?: Given): Promise<[Answered, Job]>;
    timeline(options?: Given): Promise<[Answered, Job]>;
    searchlog(): Promise<[Answered, Job]>;
    track(options: Given, callbacks: Record<string, (argument: Answered) => unknown>): Promise<unknown>;
    iterator(type: string, options?: Given): { next(): Promise<[Answered, boolean]> };
  }

  class SavedSearch extends Entity {
    dispatch(options?: Given): Promise<[Job, SavedSearch]>;
    history(options?: Given): Promise<[Job[], SavedSearch]>;
    acknowledge(): Promise<Answered>;
    suppressInfo(): Promise<Answered>;
    alertCount(): number;
    firedAlertGroup(): FiredAlertGroup;
  }

  class Index extends Entity {
    submitEvent(event: string | Given, options?: Given): Promise<[Answered, Index]>;
  }

  class Indexes extends Collection<Index> {
    create(name: string | Given, options?: Given): Promise<Index>;
  }

  class StoragePasswords extends Collection<Entity> {
    createOrReplace(properties: Given): Promise<Entity>;
  }

  class FiredAlert extends Entity {
    alertType(): string | null;
    isDigestMode(): boolean;
    savedSearchName(): string | null;
    severity(): number;
    sid(): string | null;
    triggerTime(): number | null;
    triggeredAlertCount(): number;
    actions(): Answered;
  }

  class FiredAlertGroup extends Entity {
    count(): number;
    list(options?: Given): Promise<[FiredAlert[], FiredAlertGroup]>;
  }

  class ConfigurationFile extends Collection<Entity> {
    create(name: string | Given, settings?: Given): Promise<Entity>;
    getDefaultStanza(): Entity;
  }

  class Configurations extends Collection<ConfigurationFile & Entity> {
    create(name: string | Given): Promise<ConfigurationFile & Entity>;
    getConfFile(name: string): Promise<ConfigurationFile | null>;
    createAsync(file: string, stanza: string, settings?: Given): Promise<unknown>;
  }

  class DataModelObject {
    name: string;
    parentName: string;
    constraints: { query: string; owner: string }[];
    fieldNames(): string[];
    createPivotSpecification(): { pivot(): Promise<unknown> };
    startSearch(options: Given, rest?: string): Promise<Job>;
  }

  class DataModel extends Entity {
    displayName: string;
    objectNames: string[];
    objects: DataModelObject[];
    isAccelerated(): boolean;
    objectByName(name: string): DataModelObject | null;
  }

  class DataModels extends Collection<DataModel> {
    create(name: string | Given, definition?: Given): Promise<DataModel>;
  }

  class Service {
    constructor(options: Given);
    version: string;
    /** What stands before each path. */
    prefix: string;
    sessionKey: string;
    login(): Promise<unknown>;
    logout(): void;
    get(path: string, parameters?: Given): Promise<Answered>;
    post(path: string, parameters?: Given): Promise<Answered>;
    search(query: string | Given, options?: Given): Promise<Job>;
    /** The rows of `output_mode=json`; other forms have other members. Rejects with what was answered. */
    oneshotSearch(query: string, options?: Given): Promise<Answered>;
    getJob(sid: string): Promise<Job>;
    parse(query: string, options?: Given): Promise<Answered>;
    typeahead(prefix: string, count?: number): Promise<Answered>;
    currentUser(): Promise<Entity>;
    serverInfo(): Promise<Entity>;
    jobs(namespace?: Given): Collection<Job>;
    savedSearches(namespace?: Given): Collection<SavedSearch>;
    indexes(namespace?: Given): Indexes;
    storagePasswords(namespace?: Given): StoragePasswords;
    firedAlertGroups(namespace?: Given): Collection<FiredAlertGroup>;
    configurations(namespace: Given): Configurations;
    dataModels(namespace?: Given): DataModels;
    views(namespace?: Given): Collection<Entity>;
    /** Stores an event, which an object becomes as JSON. */
    log(event: string | Given, options?: Given): Promise<Answered>;
    apps(): Collection<Entity>;
    users(): Collection<Entity>;
  }

  const splunkjs: { Service: typeof Service };
  export default splunkjs;
}
