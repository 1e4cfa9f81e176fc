import type { RowSpec } from '../panels.ts';
import { quantile, rate } from '../queries.ts';

const chosen = 'service=~"$service"';

export const processes: readonly RowSpec[] = [
  {
    title: 'Processes',
    panels: [
      {
        title: 'Processes, by release',
        unit: 'short',
        queries: [[`count by (service, version) (quittance_build_info{${chosen}})`, '{{service}} {{version}}']],
      },
      {
        title: 'Restarts',
        unit: 'short',
        queries: [
          [`sum by (service) (changes(process_start_time_seconds{${chosen}}[$__rate_interval]))`, '{{service}}'],
        ],
      },
      {
        title: 'CPU',
        unit: 'short',
        queries: [[rate(`process_cpu_seconds_total{${chosen}}`, 'service, instance'), '{{service}} {{instance}}']],
        description: 'Of one core, the whole of which one process can use.',
      },
      {
        title: 'Memory, share of the limit',
        unit: 'percentunit',
        queries: [
          [
            `max by (service, instance) (process_resident_memory_bytes{${chosen}} / process_memory_limit_bytes)`,
            '{{service}} {{instance}}',
          ],
        ],
      },
      {
        title: 'Memory',
        unit: 'bytes',
        queries: [
          [`max by (service, instance) (process_resident_memory_bytes{${chosen}})`, '{{service}} {{instance}}'],
          [`max by (service, instance) (nodejs_heap_size_used_bytes{${chosen}})`, '{{service}} {{instance}} heap'],
        ],
      },
      {
        title: 'Event loop delay',
        unit: 's',
        queries: [
          [`max by (service, instance) (nodejs_eventloop_lag_p99_seconds{${chosen}})`, '{{service}} {{instance}}'],
        ],
      },
      {
        title: 'Clock difference',
        unit: 's',
        queries: [
          [`max by (service, instance) (abs(clock_difference_seconds{${chosen}}))`, '{{service}} {{instance}}'],
        ],
        description: "Between a process's clock and its database's.",
      },
      {
        title: 'Time in garbage collection',
        unit: 'percentunit',
        queries: [[rate(`nodejs_gc_duration_seconds_sum{${chosen}}`, 'service, instance'), '{{service}} {{instance}}']],
      },
      {
        title: 'File descriptors',
        unit: 'short',
        queries: [[`max by (service, instance) (process_open_fds{${chosen}})`, '{{service}} {{instance}}']],
      },
    ],
  },
  {
    title: 'Database connections and loops',
    panels: [
      {
        title: 'Connections',
        unit: 'short',
        queries: [[`sum by (service, pool, state) (db_pool_connections{${chosen}})`, '{{pool}} {{state}}']],
      },
      {
        title: 'Callers waiting for one',
        unit: 'short',
        queries: [[`sum by (service, pool) (db_pool_waiting{${chosen}})`, '{{pool}}']],
      },
      {
        title: 'Since a loop last succeeded',
        unit: 's',
        queries: [
          [`time() - max by (service, loop) (loop_last_success_timestamp_seconds{${chosen}})`, '{{service}} {{loop}}'],
        ],
      },
      {
        title: 'Loop runs that failed',
        unit: 'short',
        queries: [
          [
            rate(`loop_run_duration_seconds_count{${chosen}, outcome="error"}`, 'service, loop'),
            '{{service}} {{loop}}',
          ],
        ],
      },
      {
        title: 'Longest runs',
        unit: 's',
        queries: [[quantile(0.99, `loop_run_duration_seconds{${chosen}}`, 'service, loop'), '{{service}} {{loop}}']],
      },
    ],
  },
];

/** From the backends' own exporters; empty if those are not scraped. */
export const backends: readonly RowSpec[] = [
  {
    title: 'RabbitMQ',
    panels: [
      {
        title: 'Alarms',
        unit: 'short',
        queries: [
          ['max by (instance) (rabbitmq_alarms_memory_used_watermark)', '{{instance}} memory'],
          ['max by (instance) (rabbitmq_alarms_free_disk_space_watermark)', '{{instance}} disk'],
        ],
      },
      {
        title: 'Memory, share of the limit',
        unit: 'percentunit',
        queries: [
          [
            'max by (instance) (rabbitmq_process_resident_memory_bytes / rabbitmq_resident_memory_limit_bytes)',
            '{{instance}}',
          ],
        ],
      },
      {
        title: 'Disk left',
        unit: 'bytes',
        queries: [
          ['min by (instance) (rabbitmq_disk_space_available_bytes)', '{{instance}}'],
          ['max by (instance) (rabbitmq_disk_space_available_limit_bytes)', '{{instance}} least'],
        ],
      },
      {
        title: 'Ready',
        unit: 'short',
        queries: [['max by (queue) (rabbitmq_detailed_queue_messages_ready)', '{{queue}}']],
      },
      {
        title: 'Unacknowledged',
        unit: 'short',
        queries: [['max by (queue) (rabbitmq_detailed_queue_messages_unacked)', '{{queue}}']],
      },
      {
        title: 'Consumers',
        unit: 'short',
        queries: [['max by (queue) (rabbitmq_detailed_queue_consumers)', '{{queue}}']],
      },
    ],
  },
  {
    title: 'PostgreSQL (CloudNativePG)',
    panels: [
      { title: 'Instances up', unit: 'short', queries: [['sum by (cluster) (cnpg_collector_up)', '{{cluster}}']] },
      { title: 'Replication lag', unit: 's', queries: [['max by (pod) (cnpg_pg_replication_lag)', '{{pod}}']] },
      {
        title: 'Synchronous standbys',
        unit: 'short',
        queries: [['max by (pod) (cnpg_collector_sync_replicas{value="observed"})', '{{pod}}']],
      },
      {
        title: 'Connections',
        unit: 'short',
        queries: [['sum by (usename, state) (cnpg_backends_total)', '{{usename}} {{state}}']],
      },
      {
        title: 'Longest transaction',
        unit: 's',
        queries: [['max by (usename) (cnpg_backends_max_tx_duration_seconds)', '{{usename}}']],
      },
      {
        title: 'Waiting for a lock',
        unit: 'short',
        queries: [['max by (pod) (cnpg_backends_waiting_total)', '{{pod}}']],
      },
      { title: 'Size', unit: 'bytes', queries: [['max by (datname) (cnpg_pg_database_size_bytes)', '{{datname}}']] },
      {
        title: 'WAL files not archived yet',
        unit: 'short',
        queries: [['max by (pod) (cnpg_collector_pg_wal_archive_status{value="ready"})', '{{pod}}']],
      },
    ],
  },
];
