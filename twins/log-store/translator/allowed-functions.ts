/** The functions that a translated query may call: deterministic ones that read nothing but their arguments. */
const families = {
  aggregates:
    "any_value arg_max arg_min array_agg avg bit_and bit_or bit_xor bool_and bool_or corr count count_if count_star covar_pop covar_samp first last list mad max median min mode product quantile quantile_cont quantile_disc regr_slope sem skewness kurtosis stddev stddev_pop stddev_samp string_agg sum var_pop var_samp variance approx_count_distinct approx_quantile histogram group_concat entropy",
  windows:
    "row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value",
  text: "array_extract ascii chr concat concat_ws contains ends_with format instr lcase left length like_escape ilike_escape not_like_escape not_ilike_escape lower lpad ltrim position prefix printf regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace regexp_split_to_array repeat replace reverse right rpad rtrim split split_part starts_with str_split str_split_regex string_split string_split_regex char_length character_length strip_accents strlen strpos substr substring suffix translate trim ucase unicode upper levenshtein damerau_levenshtein jaccard jaro_similarity md5 sha256 hash to_base64 from_base64 hex unhex url_decode url_encode",
  numbers:
    "abs acos asin atan atan2 cbrt ceil ceiling cos cot degrees exp floor greatest isfinite isinf isnan least ln log log10 log2 mod pi pow power radians round sign signbit sin sqrt tan trunc divide multiply add subtract gcd lcm even factorial bit_count xor",
  dates:
    "age century date_diff datediff date_part datepart date_sub datesub date_trunc datetrunc day dayname dayofmonth dayofweek dayofyear decade epoch epoch_ms epoch_ns epoch_us era extract hour isodow isoyear last_day make_date make_time make_timestamp microsecond millisecond minute month monthname quarter second strftime strptime try_strptime time_bucket timezone to_days to_hours to_microseconds to_milliseconds to_minutes to_months to_quarters to_seconds to_timestamp to_weeks to_years week weekday weekofyear year yearweek",
  lists:
    "array_contains array_distinct array_length array_position array_slice array_sort array_to_string cardinality flatten generate_series generate_subscripts len list_aggregate list_any_value list_append list_avg list_concat list_contains list_count list_distinct list_extract list_filter list_first list_has list_has_all list_has_any list_last list_max list_min list_position list_reduce list_reverse list_reverse_sort list_slice list_sort list_sum list_transform list_unique list_value range unnest struct_extract struct_pack row",
  json: "json_array_length json_contains json_exists json_extract json_extract_path json_extract_path_text json_extract_string json_keys json_type json_valid json_value",
  conditions: "coalesce if ifnull nullif case error",
  operators: "+ - * / % // ** ^ ~ ~~ !~~ ~~* !~~* ~~~ || & | << >> @ <=> -> ->> not",
} as const;

const functions: ReadonlySet<string> = new Set(Object.values(families).flatMap((names) => names.split(" ")));

export function isAllowedFunction(name: string): boolean {
  return functions.has(name.toLowerCase());
}

/** Functions that may stand in FROM. */
const tableFunctions: ReadonlySet<string> = new Set(["unnest", "range", "generate_series"]);

export function isAllowedTableFunction(name: string): boolean {
  return tableFunctions.has(name.toLowerCase());
}
