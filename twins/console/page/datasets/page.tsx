import { Heading } from "../ui/layout.tsx";

export function Datasets() {
  return <Heading title="Datasets" />;
}
